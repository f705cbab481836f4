# A real broker for the tests of delivery, where Java 17 and Maven are there.
BROKER = go run ./internal/kafka/broker

.PHONY: kafka-up
kafka-up: ## Start a private Apache Kafka (Java 17, Maven)
	@$(BROKER) up

.PHONY: kafka-down
kafka-down: ## Stop it and delete its data
	@$(BROKER) down

.PHONY: test-kafka
test-kafka: kafka-up $(SERVERS) ## Tests of delivery against a real Apache Kafka
	@trap '$(BROKER) down' EXIT; \
	$(SERVERS) exec -- env MSGX_TEST_KAFKA="$$($(BROKER) env)" go test -count=1 ./internal/kafka ./internal/engine

.PHONY: test-kafka-if-possible
test-kafka-if-possible: $(SERVERS)
	@if $(BROKER) can && $(BROKER) up; then $(MAKE) test-kafka; \
	else echo "tests against a real Kafka are left out: Java 17, Maven or the jars cannot be had here; the same tests ran against kfake"; fi

# make test runs them too, after everything else.
test: test-kafka-if-possible
