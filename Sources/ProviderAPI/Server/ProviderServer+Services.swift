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
        defer { self.lock.release() }
        do {
            try await withGracefulShutdownHandler {
                try await self.runServices()
            } onGracefulShutdown: {
                // Long queries would delay the end of open requests.
                self.store.endQueries()
                self.outcomes.end()
            }
            try await self.store.writeStatistics()
            try self.store.close()
            self.logger.info("provider ended")
            self.bound.resolve(.failure(ProviderError.ended))
        } catch {
            self.bound.resolve(.failure(error))
            throw error
        }
    }

    /// Opens a provider without a listener, which needs no key.
    private func openWithoutListener() {
        self.logger.info("provider is open", metadata: ["api": "none"])
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
        self.logger.info("provider is open", metadata: ["api": "\(scheme)://\(self.configuration.host):\(port)/v1"])
        if self.certificate == nil, !self.configuration.isLoopback {
            let message: Logger.Message = "API is open to other hosts without TLS: keys and devices' data can be read"
            let remedy = "set serve.tls.certificate and serve.tls.key, or put a proxy with TLS in front"
            self.logger.warning(message, metadata: ["host": "\(self.configuration.host)", "remedy": "\(remedy)"])
        }
        self.bound.resolve(.success(port))
    }

    /// Runs all services until one fails, or all have ended.
    func runServices() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for service in self.services { group.addTask { try await service.run() } }
            if let certificate { group.addTask { await certificate.run() } }
            group.addTask { await cancelWhenGracefulShutdown { await self.warnOfOverruledBridges() } }
            if self.configuration.hasListener {
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
