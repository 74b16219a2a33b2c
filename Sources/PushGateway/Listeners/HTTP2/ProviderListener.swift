import Logging
import NIOCore
import PushHTTP
import PushSupport
import PushTypes
import PushWire
import Synchronization

final class ProviderListener: Sendable {
    let session: ProviderSession.Shared
    let channels: ChannelManager
    let router: MessageRouter
    let rejectionLog: RejectionLog
    private let connectionLog: Logger
    private let certificates: CertificateCheck
    private let requestDeadline: TimeAmount

    var environment: PushEnvironment { self.session.environment }
    var faults: FaultPlan { self.router.services.faults }
    var time: any TimeSource { self.router.services.time }
    var logger: Logger { self.router.services.logger }

    init(
        session: ProviderSession.Shared,
        channels: ChannelManager,
        router: MessageRouter,
        certificates: CertificateCheck,
        requestDeadline: TimeAmount
    ) {
        (self.session, self.channels, self.router) = (session, channels, router)
        (self.certificates, self.requestDeadline) = (certificates, requestDeadline)
        self.rejectionLog = RejectionLog(router.services.logger)
        self.connectionLog = router.services.logger.rateLimited()
    }

    /// Adds the handlers of a connection behind TLS. `fault` is the fault of the connection, or `nil` if there is none.
    func initialize(_ channel: any Channel, _ fault: FaultDecision?) throws {
        try channel.pipeline.syncOperations.addHandler(
            ProtocolDetector(deadline: self.requestDeadline) { try self.configureHTTP2($0, fault) }
        )
    }

    /// Adds the HTTP/2 handler. If the client's certificate is invalid here, the connection is closed with GOAWAY and
    /// the reason (reference 1.2).
    private func configureHTTP2(_ channel: any Channel, _ fault: FaultDecision?) throws {
        var certificate: CertificateIdentity?
        var certificateError: Reason?
        if let shown = LegacyTLS.peerCertificate(channel) {
            switch self.certificates.identity(of: shown) {
            case .success(let identity): certificate = identity
            case .failure(let reason): certificateError = reason
            }
        }
        let session = ProviderSession(
            self.session,
            certificate: certificate,
            source: SignatureCheckLimiter.Source(channel.remoteAddress)
        )
        let rules = self.session.rules
        var limits = HTTP2ServerLimits()
        limits.streams = fault?.streamLimit ?? session.streamLimit
        limits.excess = session.streamLimit == 1 ? .endConnection : .refuseStream
        limits.request = self.requestDeadline
        limits.idle = rules.idleTimeout.map { TimeAmount($0) }
        try channel.pipeline.syncOperations.addHandler(
            ProviderConnectionHandler(
                limits: limits,
                now: channel.eventLoop.now,
                retryAfter: rules.retryAfter,
                logger: self.connectionLog,
                delegate: ProviderRequestHandler(listener: self, session: session, certificateError: certificateError)
            )
        )
        if session.credential != nil { UnauthenticatedConnectionBudget.markAuthenticated(channel) }
    }
}

/// Logs the rejections of providers' requests: at most ``perMinute`` lines a minute for each reason, and the number of
/// rejections that were not logged.
final class RejectionLog: Sendable {
    private struct Line: Hashable {
        var text: String
        var reason: Reason
    }

    static let perMinute = 20

    private let logger: Logger
    private let clock: @Sendable () -> NIODeadline
    private let lines = Mutex(LogLineLimiter<Line>(perMinute: perMinute))

    init(_ logger: Logger, clock: @escaping @Sendable () -> NIODeadline = { .now() }) {
        (self.logger, self.clock) = (logger, clock)
    }

    /// Logs a rejection, or only counts it if its reason has reached ``perMinute`` lines.
    /// - Parameter rule: The rule of strict mode that the request broke, or `nil` for a rule that always applies.
    func write(_ text: String, _ reason: Reason, id: String? = nil, rule: String? = nil) {
        let now = self.clock()
        guard let omitted = self.lines.withLock({ $0.note(Line(text: text, reason: reason), now: now) }) else { return }
        var metadata: Logger.Metadata = ["reason": "\(reason.text)"]
        if let id { metadata["id"] = "\(id)" }
        if let rule { metadata["rule"] = "\(rule)" }
        if omitted > 0 { metadata["omitted"] = "\(omitted)" }
        self.logger.info("\(text)", metadata: metadata)
    }

    /// Logs the number of rejections that were left out in past minutes. This method is called at intervals.
    func flush() {
        let now = self.clock()
        for (line, count) in self.lines.withLock({ $0.takeOmitted(now: now) }) {
            self.logger.info("\(line.text)", metadata: ["reason": "\(line.reason.text)", "omitted": "\(count)"])
        }
    }
}
