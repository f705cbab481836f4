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

# Passed to the demo: faults to provoke while it runs.
TROUBLE ?=

# The code of our own; gen/ is sqlc's.
GOFILES = $(shell git ls-files --cached --others --exclude-standard '*.go' | grep -v '^gen/')

-include internal/kafka/broker.mk

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
	@$(SERVERS) exec -- go test -count=1 ./...

.PHONY: clean
clean: demo-down ## Stop our servers, remove what was built and their data
	@rm -rf bin .run
