import Logging
import NIOCore
import NIOSSL
import NIOTLS
import PushHTTP
import PushSupport
import PushTypes
import PushWire

/// Connects a channel and the router to ``BinaryServerStateMachine``.
///
/// The handler outlives its connection until all notifications that the client had sent are submitted, because the
/// client considers them accepted.
final class BinaryServerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let listener: BinaryListener
    private let certificate: (any Channel) -> [UInt8]?
    private var stateMachine: BinaryServerStateMachine
    private var actions = CircularBuffer<BinaryServerStateMachine.Action>()
    private var isPerforming = false
    private var identity: Result<CertificateIdentity, Reason> = .failure(.badCertificate)
    /// The context of the channel, or `nil` once the connection is closed.
    private var context: ChannelHandlerContext?
    private var timer: Scheduled<Void>?
    private var isReading = true
    /// A Boolean value that indicates whether a fault has stopped the connection, so that nothing more is read, and no
    /// responses are sent.
    private var isStalled = false
    private var notificationCount = 0
    private var isHandshakeDone = false

    init(listener: BinaryListener, certificate: @escaping (any Channel) -> [UInt8]? = LegacyTLS.peerCertificate) {
        (self.listener, self.certificate) = (listener, certificate)
        self.stateMachine = BinaryServerStateMachine(limits: listener.limits, now: listener.time.steady)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.schedule()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted:
            self.isHandshakeDone = true
            self.identity = self.listener.certificates.identity(of: self.certificate(context.channel))
            if case .success = self.identity { UnauthenticatedConnectionBudget.markAuthenticated(context.channel) }
            if case .failure(let reason) = self.identity {
                let metadata: Logger.Metadata = ["listener": "binary", "reason": "\(reason.text)"]
                self.listener.logger.info("certificate rejected", metadata: metadata)
            }
        case is ChannelShouldQuiesceEvent:
            self.perform(self.stateMachine.shutDown(now: self.listener.time.steady), on: context.eventLoop)
        case ChannelEvent.inputClosed:
            guard !self.isStalled else { return context.closeBothSides() }
            self.perform(self.stateMachine.inputClosed(now: self.listener.time.steady), on: context.eventLoop)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let actions = self.stateMachine.receive(Self.unwrapInboundIn(data), now: self.listener.time.steady)
        self.perform(actions, on: context.eventLoop)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.timer?.cancel()
        self.context = nil
        self.perform(self.stateMachine.inputClosed(now: self.listener.time.steady), on: context.eventLoop)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Many clients close TCP without the closure alert of TLS. Nothing is lost, as each notification has its
        // length.
        if self.isHandshakeDone, case NIOSSLError.uncleanShutdown = error { return }
        if !self.isHandshakeDone {
            self.listener.logger.info("TLS handshake failed", metadata: LegacyTLS.metadata(error, "binary"))
        }
        context.close(promise: nil)
    }

    fileprivate func settled(_ results: [SubmissionResult], on eventLoop: any EventLoop) {
        let now = self.listener.time.steady
        var actions: [BinaryServerStateMachine.Action] = []
        for result in results {
            actions +=
                result.isAccepted
                ? self.stateMachine.accepted(ticket: result.ticket, now: now)
                // Also where too much is in flight to the device: this status allows to send it again.
                : self.stateMachine.rejected(ticket: result.ticket, status: .processingError, now: now)
        }
        self.perform(actions, on: eventLoop)
    }

    /// Performs actions in their order, and submits all of their notifications with one call.
    private func perform(_ actions: [BinaryServerStateMachine.Action], on eventLoop: any EventLoop) {
        self.actions += actions
        guard !self.isPerforming else { return }
        self.isPerforming = true
        var submissions: [Submission] = []
        lazy var delegate = Delegate(handler: NIOLoopBound(self, eventLoop: eventLoop))
        while !self.isStalled, let action = self.actions.popFirst() {
            switch action {
            case .submit(let ticket, let notification):
                guard self.stateMachine.isInFlight(ticket) else { continue }
                let now = self.listener.time.steady
                switch self.evaluate(notification) {
                case .submit(let push, let delay):
                    let submission = Submission(push: push, owner: delegate, ticket: ticket)
                    guard let delay else {
                        submissions.append(submission)
                        continue
                    }
                    let submitter = self.listener.submitter
                    eventLoop.scheduleTask(in: TimeAmount(delay)) { submitter.submit([submission]) }
                case .accepted: self.actions += self.stateMachine.accepted(ticket: ticket, now: now)
                case .reject(let status):
                    self.actions += self.stateMachine.rejected(ticket: ticket, status: status, now: now)
                case .ignored: break
                }
            case .finish(let packet): self.finish(packet)
            case .report(let error): self.report(error)
            case .close: self.context?.closeBothSides()
            }
        }
        self.isPerforming = false
        if !submissions.isEmpty { self.listener.submitter.submit(submissions) }
        self.adjustReading()
        self.schedule()
    }

    private func evaluate(_ notification: BinaryNotification) -> BinaryListener.Evaluation {
        self.notificationCount += 1
        let ordinal = self.notificationCount
        let fault = try? self.identity.map { self.listener.fault(notification, from: $0, ordinal: ordinal) }.get()
        switch fault?.connection {
        case .close, .goAway:
            self.context?.close(promise: nil)
            return .ignored
        case .stall:
            self.isStalled = true
            return .ignored
        case nil: break
        }
        if case .reject(let reason, _) = fault?.response {
            return .reject(BinaryStatus(rawValue: reason.binaryStatus))
        }
        switch fault?.before {
        case .wait(let delay): return self.check(notification, delay: delay)
        case .stall: return .ignored
        case nil: return self.check(notification, delay: nil)
        }
    }

    /// Checks the certificate and the notification. A certificate that has become invalid stays invalid.
    /// - Parameter delay: The delay that a fault adds before the notification is submitted, or `nil` if there is none.
    private func check(_ notification: BinaryNotification, delay: Duration?) -> BinaryListener.Evaluation {
        if case .success(let identity) = self.identity, !self.listener.certificates.isStillValid(identity) {
            self.identity = .failure(.badCertificate)
        }
        let evaluation: BinaryListener.Evaluation =
            switch self.identity {
            case .success(let identity): self.listener.evaluate(notification, from: identity, after: delay)
            case .failure(let reason): .reject(BinaryStatus(rawValue: reason.binaryStatus))
            }
        if case .reject(let status) = evaluation { self.log("notification rejected", status) }
        return evaluation
    }

    private func report(_ error: BinaryServerStateMachine.MalformedNotification) {
        self.log(
            "malformed notification ends the connection",
            error.status,
            [
                "command": "\(error.command.map(String.init) ?? "none")",
                "answered": "\(error.isAnswered && self.context != nil)",
            ]
        )
    }

    private func log(_ message: Logger.Message, _ status: BinaryStatus, _ more: Logger.Metadata = [:]) {
        var metadata: Logger.Metadata = ["listener": "binary", "status": "\(status)"]
        if case .success(let identity) = self.identity { metadata["topic"] = "\(identity.defaultTopic.name)" }
        self.listener.logger.info(message, metadata: metadata.merging(more) { $1 })
    }

    /// Writes the packet and closes the write side only. A full close while bytes of the client are unread would send a
    /// TCP reset, which could destroy the packet before the client reads it (reference 5.3.6).
    private func finish(_ packet: BinaryErrorResponse?) {
        guard let context else { return }
        if let packet { context.writeAndFlush(Self.wrapOutboundOut(packet.encoded), promise: nil) }
        context.close(mode: .output, promise: nil)
    }

    private func adjustReading() {
        guard let context, (self.stateMachine.wantsBytes && !self.isStalled) != self.isReading else { return }
        self.isReading.toggle()
        try? context.channel.syncOptions?.setOption(.autoRead, value: self.isReading)
    }

    private func schedule() {
        self.timer?.cancel()
        guard let context, let deadline = self.stateMachine.nextDeadline else { return }
        let delay = max(.zero, deadline.since(self.listener.time.steady))
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) {
            self.perform(self.stateMachine.tick(now: self.listener.time.steady), on: context.eventLoop)
        }
    }

    /// Passes results from any thread to the handler's event loop.
    private final class Delegate: SubmissionDelegate {
        private let handler: NIOLoopBound<BinaryServerHandler>

        init(handler: NIOLoopBound<BinaryServerHandler>) { self.handler = handler }

        func settled(_ results: [SubmissionResult]) {
            let handler = self.handler
            handler.eventLoop.execute { handler.value.settled(results, on: handler.eventLoop) }
        }
    }
}
