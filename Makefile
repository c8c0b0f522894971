# Leasewarden: build, test, demo. Needs Go and make.

# Go's own test timeout covers the slowest package, the one-time build of the
# control plane not included: that is done before.
GO        ?= go
CLUSTER   := $(GO) -C test/localcluster
MANIFESTS := $(GO) -C test/manifests
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LDFLAGS  := -s -w -X main.version=$(VERSION)

.DEFAULT_GOAL := help

.PHONY: help
help: ## List what can be made.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: require-go ## Upgrade kube-scheduler with and without Leasewarden, and look.
	@echo "==> Compiling the demo (a minute or two the first time)"
	@$(CLUSTER) build -o ../../bin/demo ./demo
	@cd test/localcluster && exec ../../bin/demo # "go run" would not pass SIGTERM on

.PHONY: demo-down
demo-down: require-go ## Stop what the demo left running.
	@$(CLUSTER) run . down --name demo

.PHONY: test
test: verify test-unit test-simulation test-browser test-manifests test-cluster ## Run every test there is.

.PHONY: build
build: require-go ## Build bin/leasewarden, also as a plugin of kubectl.
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/leasewarden ./cmd/leasewarden
	@ln -sf leasewarden bin/kubectl-leasewarden
	@ln -sf leasewarden bin/kubectl_complete-leasewarden

# DOCKER is docker, or what takes its place, such as podman or buildah.
DOCKER   ?= docker
IMAGE    ?= leasewarden:$(VERSION)
.PHONY: image
image: ## Build the image IMAGE with DOCKER.
	@command -v $(DOCKER) >/dev/null || { echo "$(DOCKER) is not on the PATH: install it, or give DOCKER=podman or DOCKER=buildah."; exit 1; }
	$(DOCKER) build --build-arg VERSION=$(VERSION) -t $(IMAGE) .

.PHONY: verify
verify: require-go ## Check formatting, vet, and that generated files are current.
	@echo "==> gofmt, go vet, generated files"
	@files=$$(gofmt -l .); [ -z "$$files" ] || { echo "not gofmt-clean, run gofmt -w: $$files"; exit 1; }
	@$(GO) vet -tags browser ./...
	@$(CLUSTER) vet ./...
	@$(MANIFESTS) vet ./...
	@$(MAKE) --no-print-directory verify-generated

.PHONY: test-unit
test-unit: require-go ## Run the tests that need no control plane.
	@echo "==> unit tests, with the race detector"
	@$(GO) test -race $$($(GO) list ./... | grep -v /test/simulation)

.PHONY: test-simulation
test-simulation: require-go ## Play 1,000 clusters with real electors and faults.
	@echo "==> 1,000 simulated clusters, and more (some minutes)"
	@$(GO) test -timeout 30m ./test/simulation/...

.PHONY: simulate
simulate: require-go ## Play SEEDS other clusters, from START on.
	@echo "==> $(or $(SEEDS),1000) simulated clusters"
	@SEEDS=$(or $(SEEDS),1000) START=$(or $(START),1000) $(GO) test ./test/simulation -run 'TestSeeds$$' -v -timeout 0

.PHONY: test-browser
test-browser: require-go ## Look at the pages we draw, in a real browser.
	@echo "==> pages in a real browser"
	@if ./test/ensure-browser; then $(GO) test -tags browser ./cmd/leasewarden/internal/auditreport; \
	else echo "NOT TESTED: the pages of audit and simulate, for want of a browser"; fi

# The test cache does not see the files that are tested here.
.PHONY: test-manifests
test-manifests: require-go ## Test the manifests, the chart, the alerts and the image.
	@echo "==> manifests, chart, alerts, dashboard"
	@$(MANIFESTS) test -count=1 ./...

.PHONY: test-cluster
test-cluster: require-go ## Run the tests on a real control plane.
	@echo "==> the control plane's binaries (built once, 5 to 10 minutes on 2 cores)"
	@$(CLUSTER) run . build
	@echo "==> tests on a real control plane, with the race detector"
	@$(CLUSTER) test -race -p 1 -timeout 20m ./...

.PHONY: bench
bench: require-go ## Measure what Leasewarden costs, beside a cluster without it.
	@echo "==> Compiling the benchmark (a minute or two the first time)"
	@$(CLUSTER) build -o ../../bin/bench ./performance
	@cd test/localcluster && exec ../../bin/bench $(BENCH) # "go run" would not pass SIGTERM on

.PHONY: bench-failover
bench-failover: require-go ## Measure failover beside plain client-go and CLE.
	@$(CLUSTER) run ./failover

.PHONY: soak
soak: require-go ## Break everything in turn for 30 minutes, and look who leads.
	@$(CLUSTER) build -o ../../bin/soak ./soak
	@cd test/localcluster && exec ../../bin/soak $(SOAK) # "go run" would not pass SIGTERM on

.PHONY: generate
generate: require-go ## Generate deep copies, CRDs and docs/api.md from api/.
	@$(GO) tool controller-gen object paths=./api/...
	@$(GO) tool controller-gen crd paths=./api/... output:crd:dir=manifests/crds
	@page=$$($(GO) run ./cmd/leasewarden/internal/apireference) && printf '%s\n' "$$page" > docs/api.md

.PHONY: verify-generated
verify-generated: require-go
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	$(GO) tool controller-gen crd paths=./api/... output:crd:dir="$$dir" && \
	$(GO) tool controller-gen object paths=./api/... output:object:dir="$$dir/object" && \
	diff -r --exclude=kustomization.yaml --exclude=object "$$dir" manifests/crds && \
	diff "$$dir/object/zz_generated.deepcopy.go" api/v1alpha1/zz_generated.deepcopy.go && \
	$(GO) run ./cmd/leasewarden/internal/apireference | diff - docs/api.md || \
	{ echo "generated files are out of date, run: make generate"; exit 1; }

.PHONY: cluster-up cluster-down cluster-status
cluster-up: require-go ## Start a local cluster to work on.
	@$(CLUSTER) run . up
cluster-down: require-go ## Stop it.
	@$(CLUSTER) run . down
cluster-status: require-go ## Show what runs in it.
	@$(CLUSTER) run . status

.PHONY: require-go
require-go:
	@command -v $(GO) >/dev/null || { echo "Go is not on the PATH: install Go 1.26 or newer from your distribution or go.dev, then run make again."; exit 1; }
