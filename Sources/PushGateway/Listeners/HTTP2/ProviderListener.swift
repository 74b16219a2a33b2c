import Logging
import NIOCore
import PushHTTP
import PushSupport
import PushTypes

/// The provider API of one environment: pushes, broadcasts and channels over HTTP/2.
final class ProviderListener: Sendable {
    let session: ProviderSession.Shared
    let channels: ChannelManager
    let router: MessageRouter
    let faults: FaultPlan
    let time: any TimeSource
    let logger: Logger
    /// The log of refusals.
    let refusals: RejectionLog
    private let certificates: CertificateCheck
    private let requestDeadline: TimeAmount

    var environment: PushEnvironment { self.session.environment }

    init(
        session: ProviderSession.Shared,
        channels: ChannelManager,
        router: MessageRouter,
        certificates: CertificateCheck,
        faults: FaultPlan,
        requestDeadline: TimeAmount,
        time: any TimeSource,
        logger: Logger
    ) {
        self.session = session
        self.channels = channels
        self.router = router
        self.certificates = certificates
        self.faults = faults
        self.requestDeadline = requestDeadline
        self.time = time
        self.logger = logger
        self.refusals = RejectionLog(logger)
    }

    /// Sets up a connection after TLS.
    func initialize(_ channel: any Channel, _ fault: FaultDecision?) throws {
        try channel.pipeline.syncOperations.addHandler(
            ProtocolDetector(deadline: self.requestDeadline) { try self.configureHTTP2($0, fault) }
        )
    }

    /// A certificate that is no good here ends the connection with GOAWAY and the reason (reference 1.2).
    private func configureHTTP2(_ channel: any Channel, _ fault: FaultDecision?) throws {
        let shown = LegacyTLS.peerCertificate(channel)
        let certificate = shown.map { self.certificates.identity(of: $0) }
        let session = ProviderSession(
            self.session,
            certificate: try? certificate?.get(),
            source: SignatureCheckLimiter.Source(channel.remoteAddress)
        )
        let rules = self.session.rules
        var limits = HTTP2ServerLimits()
        limits.streams = fault?.streamLimit ?? session.streamLimit
        limits.excess = session.streamLimit == 1 ? .endConnection : .refuseStream
        limits.request = self.requestDeadline
        limits.idle = rules.idleTimeout.map { TimeAmount($0) }
        try channel.pipeline.syncOperations.addHandler(
            ProviderConnectionHandler(limits: limits, now: channel.eventLoop.now, logger: self.logger) { handle in
                if case .failure(let reason) = certificate {
                    self.refusals.write("certificate refused", reason)
                    handle.goAway(reason)
                }
                return ProviderRequestHandler(
                    door: self,
                    handle: handle,
                    session: session,
                    eventLoop: channel.eventLoop
                ) {
                    UnauthenticatedConnections.prove(channel)
                }
            }
        )
        if session.credential != nil { UnauthenticatedConnections.prove(channel) }
    }
}
