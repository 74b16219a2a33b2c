import Logging
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import ServiceLifecycle

extension ProviderServer {
    /// Serves until shutdown, which lets open requests and the page in flight finish.
    package func run() async throws {
        // The server itself may live longer, as long as something refers to it.
        defer { self.core.lock.release() }
        do {
            try await withGracefulShutdownHandler {
                try await self.runServices()
            } onGracefulShutdown: {
                // Long queries would delay the end of open requests.
                self.core.store.endQueries()
                self.core.outcomes.end()
            }
            try await self.core.store.writeStatistics()
            try self.core.store.close()
            self.core.logger.info("provider ended")
            self.bound.resolve(.failure(ProviderError.ended))
        } catch {
            self.bound.resolve(.failure(error))
            throw error
        }
    }

    /// Opens a provider without a listener, which needs no key.
    private func openWithoutListener() {
        self.core.logger.info("provider is open", metadata: ["api": "none"])
        self.bound.resolve(.success(0))
    }

    /// Issues the first admin key and opens the API, once the listener is bound.
    func open() async throws {
        // A listener that could not be bound has thrown its error from `run()`.
        guard let port = try? await self.listening.value else { return }
        do {
            try await self.adminKey.issue()
        } catch {
            self.bound.resolve(.failure(error))
            throw error
        }
        if self.pages != nil { await self.adminLink.issue(port: port) }
        let scheme = self.certificate == nil ? "http" : "https"
        self.core.logger.info(
            "provider is open",
            metadata: ["api": "\(scheme)://\(self.core.configuration.host):\(port)/v1"]
        )
        if self.certificate == nil, !self.core.configuration.isLoopback {
            let message: Logger.Message = "API is open to other hosts without TLS: keys and devices' data can be read"
            let remedy = "set serve.tls.certificate and serve.tls.key, or put a proxy with TLS in front"
            self.core.logger.warning(
                message,
                metadata: ["host": "\(self.core.configuration.host)", "remedy": "\(remedy)"]
            )
        }
        self.bound.resolve(.success(port))
    }

    /// Runs all services until one fails, or all have ended.
    func runServices() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for service in self.services { group.addTask { try await service.run() } }
            if let certificate { group.addTask { await certificate.run() } }
            group.addTask { await cancelWhenGracefulShutdown { await self.warnOfOverruledBridges() } }
            if self.core.configuration.hasListener {
                group.addTask { try await self.serve() }
                group.addTask { try await self.open() }
            } else {
                self.openWithoutListener()
            }
            // The first error ends all services.
            for try await _ in group {}
        }
    }
}

extension ProviderServer {
    /// The most bridges that a line names.
    private static let namedBridges = 5

    /// Logs a warning for each app whose bridges lose pushes to another app.
    func warnOfOverruledBridges() async {
        let log = RateLimitedLog(self.core.logger, self.core.budgets[.logLines])
        do {
            let apps = try await self.core.store.apps().map(\.id)
            let overruled = try await self.core.store.overruledBridges(apps: apps, limit: .max)
            for (app, bridges) in Dictionary(grouping: overruled, by: \.bundleID) {
                let names = bridges.prefix(Self.namedBridges).map { "\($0.kind.rawValue) \($0.name)" }
                log.log(
                    .warning,
                    "a bridge loses pushes to another app: its name begins with that app's bundle id",
                    ["app": "\(app)", "bridges": "\(names.joined(separator: ", "))", "count": "\(bridges.count)"],
                    app: app
                )
            }
        } catch {
            guard !Task.isCancelled else { return }
            self.core.logger.error("bridges that lose pushes cannot be looked for", metadata: ["error": "\(error)"])
        }
    }
}
