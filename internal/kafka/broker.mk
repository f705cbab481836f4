# A real broker for the tests of delivery, where Java 17 and Maven are there.
BROKER = go run ./internal/kafka/broker

.PHONY: kafka-up
kafka-up: ## Start a private Apache Kafka (Java 17, Maven)
	@$(BROKER) up

.PHONY: kafka-down
kafka-down: ## Stop it and delete its data
	@$(BROKER) down

# Tests of the other servers, or with a broker of their own: once is enough.
NOT_KAFKA = ^Test(Outage|AnswerLost|LeaseAnswerLost|RequestTorn|MarkLost|ProduceLost|SessionsEnded|SlowIsNoJump|PauseAndResume|Mark.*|IDs.*|Replica.*|Process.*|Guilty.*|Innocent|HeadDeadline|Evict|Fenced|Standby.*)$$

.PHONY: test-kafka
test-kafka: $(SERVERS) ## Tests of delivery against a real Apache Kafka
	@$(SERVERS) exec -- $(BROKER) exec -- go test -count=1 -timeout 20m -skip "$(NOT_KAFKA)" ./internal/kafka/... ./internal/engine/...

# What cannot be fetched is left out; what is there and does not work is an error.
.PHONY: test-kafka-if-possible
test-kafka-if-possible: $(SERVERS)
	@if $(BROKER) fetch; then $(MAKE) test-kafka; \
	else echo "tests against a real Kafka are left out: Java 17, Maven or the jars cannot be had here; the same tests ran against kfake"; fi

# make test runs them too, after everything else.
test: test-kafka-if-possible

# A broker that still runs must not lose its folder.
clean: kafka-down
