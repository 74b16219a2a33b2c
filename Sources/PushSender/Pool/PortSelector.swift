package import Logging
import Metrics
package import NIOCore
import NIOSSL
package import PushSupport
import PushTypes
import Synchronization

/// A selector of the port of new connections, for all senders to one push service. A failure of one sender counts for
/// all. While the fallback port is in use, it probes the first port with separate connections, which it closes after
/// the TLS handshake.
package final class PortSelector: Sendable {
    private struct State {
        var fallback: PortFallback
        /// The observers by registration number. They are called when the first port works again.
        var observers: [Int: @Sendable () -> Void] = [:]
        var nextObserver = 0
        /// The next probe of the first port, or `nil` if none is planned. There is only one at a time.
        var nextTry: Scheduled<Void>?
    }

    private let endpoint: PushServiceEndpoint
    private let second: Int
    private let proxy: ProxyEndpoint?
    private let tls: NIOSSLContext
    private let group: any EventLoopGroup
    private let time: any TimeSource
    private let logger: Logger
    private let isOnFallback: Gauge
    private let state: Mutex<State>

    /// Creates a selector. Returns `nil` for a push service without a fallback port.
    /// - Parameter delay: The back-off between probes of the first port.
    /// - Throws: An error of swift-nio-ssl if additional trust roots are not PEM certificates.
    package init?(
        _ endpoint: PushServiceEndpoint,
        proxy: ProxyEndpoint?,
        group: any EventLoopGroup,
        time: any TimeSource,
        delay: Backoff = PortFallback.returnDelay,
        logger: Logger
    ) throws {
        guard let second = endpoint.fallbackPort, second != endpoint.port else { return nil }
        (self.endpoint, self.second, self.proxy) = (endpoint, second, proxy)
        // The first port shows that it works without a credential: certificates are checked after the handshake.
        self.tls = try NIOSSLContext(configuration: try endpoint.tlsConfiguration())
        (self.group, self.time, self.logger) = (group, time, logger)
        self.isOnFallback = Gauge(label: "martlet_sender_on_fallback_port", dimensions: [("service", endpoint.host)])
        self.isOnFallback.record(0)
        self.state = Mutex(State(fallback: PortFallback(first: endpoint.port, second: second, delay: delay)))
    }

    /// The push service with the port for the next connection. Each port has half of the time limit for connecting.
    var current: PushServiceEndpoint { self.endpoint(port: self.state.withLock { $0.fallback.port }) }

    /// Records a failure to connect, and returns it in the form to report. A failure that may depend on the port counts
    /// as lasting only once the other port has failed too.
    func failed(_ failure: ConnectionError, port: Int) -> ConnectionError {
        guard failure.mayDependOnPort else { return failure }
        let allFailed = self.state.withLock { state in
            state.fallback.failed(port, now: self.time.steady)
            return state.fallback.allFailed
        }
        var failure = failure
        if allFailed {
            failure.description += " (tried ports \(self.endpoint.port) and \(self.second))"
        } else {
            (failure.isLasting, failure.hasAlternative) = (false, true)
        }
        return failure
    }

    func opened(_ port: Int) {
        switch self.state.withLock({ $0.fallback.opened(port, now: self.time.steady) }) {
        case nil: break
        case .fellBack:
            self.isOnFallback.record(1)
            self.logger.warning("push service is reached on its fallback port", metadata: self.metadata)
            self.scheduleReturn()
        case .returned: self.returned()
        }
    }

    /// Registers a closure that is called whenever the first port works again. Connections to the other port should
    /// then be replaced.
    /// - Returns: The number for ``removeObserver(_:)``.
    func addObserver(_ observer: @escaping @Sendable () -> Void) -> Int {
        self.state.withLock { state in
            state.nextObserver += 1
            state.observers[state.nextObserver] = observer
            return state.nextObserver
        }
    }

    func removeObserver(_ number: Int) { _ = self.state.withLock { $0.observers.removeValue(forKey: number) } }

    private func endpoint(port: Int) -> PushServiceEndpoint {
        var endpoint = self.endpoint
        (endpoint.port, endpoint.connectTimeout) = (port, endpoint.connectTimeout / 2)
        return endpoint
    }

    private func scheduleReturn() {
        guard let time = self.state.withLock({ $0.fallback.returnTime }) else { return }
        let delay = TimeAmount(max(.zero, time.since(self.time.steady)))
        let eventLoop = self.group.next()
        let next = eventLoop.scheduleTask(in: delay) { [weak self] () -> Void in self?.tryFirstPort(on: eventLoop) }
        let replaced = self.state.withLock { state in
            defer { state.nextTry = next }
            return state.nextTry
        }
        replaced?.cancel()
    }

    private func tryFirstPort(on eventLoop: any EventLoop) {
        guard self.state.withLock({ $0.fallback.returnTime != nil }) else { return }
        let connector = Connector(endpoint: self.endpoint(port: self.endpoint.port), proxy: self.proxy, tls: self.tls)
        connector.connect(nil, on: eventLoop).whenComplete { [weak self] result in
            if case .success(let channel) = result { channel.close(promise: nil) }
            self?.tried(result.map { _ in })
        }
    }

    private func tried(_ result: Result<Void, any Error>) {
        let first = self.endpoint.port
        switch result {
        case .success:
            if self.state.withLock({ $0.fallback.opened(first, now: self.time.steady) }) != nil { self.returned() }
        case .failure(let error):
            self.state.withLock { $0.fallback.failed(first, now: self.time.steady) }
            self.logger.debug("first port does not work yet", metadata: ["error": "\(ConnectionError(error))"])
            self.scheduleReturn()
        }
    }

    private func returned() {
        self.isOnFallback.record(0)
        self.logger.info("push service is reached on its first port again", metadata: self.metadata)
        for observer in self.state.withLock({ Array($0.observers.values) }) { observer() }
    }

    private var metadata: Logger.Metadata {
        ["host": "\(self.endpoint.host)", "port": "\(self.endpoint.port)", "fallback": "\(self.second)"]
    }
}
