# msgexchange: `make help` lists what can be done.
SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS   += --no-print-directory

# No C compiler needed anywhere; `make CGO_ENABLED=1 …` where one is wanted (-race).
export CGO_ENABLED ?= 0

# Tools pinned in their own module.
TOOL    := go tool -modfile=tools/go.mod
SERVERS := bin/devservers

# The code of our own; gen/ is sqlc's.
GOFILES = $(shell find . -name '*.go' -not -path './gen/*' -not -path './.run/*')

# One after the other, also under make -j.
.NOTPARALLEL:

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z][a-z/-]*:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  %-14s %s\n", $$1, $$2}'

.PHONY: setup
setup: $(SERVERS) ## Install the servers and test tools that are missing (apt-get, Debian)
	@$(SERVERS) install

.PHONY: $(SERVERS)
$(SERVERS):
	@go build -o $@ ./cmd/devservers

.PHONY: gen
gen: gen/sqlc gen/schema ## Generate gen/ from queries/ and db/schema.sql from the migrations

.PHONY: gen/sqlc
gen/sqlc: ## Generate gen/ from queries/, migrations and sql/
	@rm -f gen/*.go
	@$(TOOL) sqlc generate

.PHONY: gen/schema
gen/schema: $(SERVERS) ## Write db/schema.sql, what the migrations add up to
	@$(SERVERS) exec -- env MSGX_UPDATE_SCHEMA=1 go test -count=1 -run '^TestSchemaFile$$' ./internal/pgtest

.PHONY: build
build: ## Build bin/msgx
	@go build -o bin/msgx ./cmd/msgx

.PHONY: lint
lint: ## Formatting, go vet, staticcheck
	@unformatted="$$("$$(go env GOROOT)/bin/gofmt" -l $(GOFILES))"; \
	if [ -n "$$unformatted" ]; then echo "gofmt these files:"; echo "$$unformatted"; exit 1; fi
	@go vet ./...
	@$(TOOL) staticcheck ./...

.PHONY: drift
drift: ## Fail when gen/ differs from what sqlc would write
	@$(TOOL) sqlc diff

.PHONY: test
test: setup drift lint test/sql test/go ## Everything: drift, lint, pgTAP and Go tests on private servers

.PHONY: test/sql
test/sql: $(SERVERS) ## pgTAP: every sql/*/test/*.sql on a fresh database
	@$(SERVERS) exec -- go run ./internal/pgtest/cmd/pgtap

.PHONY: test/go
test/go: $(SERVERS) ## Go tests on private servers
	@$(SERVERS) exec -- go test -count=1 -timeout 20m ./...

.PHONY: test/breaks
test/breaks: $(SERVERS) ## Break the code as docs/verification.md says, and see each named test fail
	@$(SERVERS) exec -- go test -count=1 -timeout 60m -run '^TestBreaks$$' ./internal/verification -break

# The demo on our private servers; they stay up, to be looked at.
DEMO = bin/msgx demo --dir .run/demo \
	--pg-url "$$($(SERVERS) env MSGX_TEST_PG_URL)" --mysql-dsn "$$($(SERVERS) env MSGX_TEST_MYSQL_DSN)"

.PHONY: servers
servers: setup ## Start our private servers, or reuse what runs
	@$(SERVERS) up

.PHONY: demo
demo: servers build ## A day of messages, start to end, checked; TROUBLE=1: servers are stopped and daemons killed meanwhile
	@$(DEMO) $(if $(TROUBLE),--trouble --servers .run --late-commits 0 --rate 350)

.PHONY: demo-up
demo-up: servers build ## The demo with steady traffic, left running in the background
	@mkdir -p .run
	@setsid nohup $(DEMO) --steady >.run/demo.log 2>&1 & echo $$! >.run/demo.pid
	@echo "running; its log is .run/demo.log, \`make demo-down\` ends it"

.PHONY: demo-down
demo-down: $(SERVERS) ## Stop the demo and our servers, delete their data
	@if [ -e .run/demo.pid ]; then pid="$$(cat .run/demo.pid)"; \
	if tr '\0' ' ' 2>/dev/null <"/proc/$$pid/cmdline" | grep -q '^bin/msgx demo'; then \
	kill "$$pid"; timeout 20 tail --pid="$$pid" -f /dev/null || kill -9 "$$pid"; fi; fi
	@$(SERVERS) down -clean
	@rm -rf .run/demo .run/demo.pid .run/demo.log

.PHONY: bench
bench: servers build ## Measure on this machine, as ratios
	@bin/msgx bench --pg-url "$$($(SERVERS) env MSGX_TEST_PG_URL)"

.PHONY: clean
clean: demo-down ## Stop our servers, remove what was built and their data
	@rm -rf bin .run

-include internal/kafka/broker.mk
