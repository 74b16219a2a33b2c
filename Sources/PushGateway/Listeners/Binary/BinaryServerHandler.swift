import Logging
import NIOCore
import NIOSSL
import NIOTLS
import PushHTTP
import PushSupport
import PushTypes
import PushWire

/// Translates between bytes, the core and ``BinaryServerStateMachine``: performs its actions in their order.
///
/// It outlives its connection by what the client had sent before it closed: that counts as accepted on its side.
final class BinaryServerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let door: BinaryListener
    private let certificate: (ChannelHandlerContext) -> [UInt8]?
    private var machine: BinaryServerStateMachine
    private var identity: Result<CertificateIdentity, Reason> = .failure(.badCertificate)
    /// `nil` once the connection is gone.
    private var context: ChannelHandlerContext?
    private var timer: Scheduled<Void>?
    private var isReading = true
    /// A fault: nothing more is read or answered.
    private var isStalled = false
    private var notifications = 0
    private var isHandshakeDone = false

    init(
        door: BinaryListener,
        certificate: @escaping (ChannelHandlerContext) -> [UInt8]? = LegacyTLS.peerCertificate
    ) {
        self.door = door
        self.certificate = certificate
        self.machine = BinaryServerStateMachine(limits: door.limits, now: door.time.steady)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.schedule()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted:
            self.isHandshakeDone = true
            self.identity = self.door.certificates.identity(of: self.certificate(context))
            if case .success = self.identity { UnauthenticatedConnections.prove(context.channel) }
            if case .failure(let reason) = self.identity {
                self.door.logger.info("certificate refused", metadata: ["door": "binary", "reason": "\(reason.text)"])
            }
        case is ChannelShouldQuiesceEvent:
            self.machine.shutDown(now: self.door.time.steady)
            self.proceed(context.eventLoop)
        case ChannelEvent.inputClosed:
            guard !self.isStalled else { return context.closeWhole() }
            self.machine.inputEnded()
            self.proceed(context.eventLoop)
        default:
            break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.machine.received(Self.unwrapInboundIn(data), now: self.door.time.steady)
        self.proceed(context.eventLoop)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.timer?.cancel()
        self.context = nil
        self.machine.inputEnded()
        self.proceed(context.eventLoop)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Many clients close TCP, or their half of it, without the end that TLS asks for: each notification says where it ends.
        if self.isHandshakeDone, case NIOSSLError.uncleanShutdown = error { return }
        if !self.isHandshakeDone {
            self.door.logger.info("TLS handshake failed", metadata: LegacyTLS.note(error, "binary"))
        }
        context.close(promise: nil)
    }

    fileprivate func settled(_ settlements: [SubmissionResult], on eventLoop: any EventLoop) {
        for settlement in settlements {
            if settlement.isAccepted {
                self.machine.accepted(ticket: settlement.ticket)
            } else {
                // Also where too much is on its way to the device: this status says that it may be sent again.
                self.machine.refused(ticket: settlement.ticket, status: .processingError)
            }
        }
        self.proceed(eventLoop)
    }

    private func proceed(_ eventLoop: any EventLoop) {
        var submissions: [Submission] = []
        lazy var owner = Owner(handler: NIOLoopBound(self, eventLoop: eventLoop))
        while !self.isStalled, let action = self.machine.next(now: self.door.time.steady) {
            switch action {
            case .push(let ticket, let notification):
                let delay: Duration?
                switch self.misbehave(notification, ticket: ticket) {
                case .some(.wait(let time)): delay = time
                case .some(.done): continue
                case nil: delay = nil
                }
                guard let push = self.judge(notification, ticket: ticket) else { continue }
                let submission = Submission(push: push, owner: owner, ticket: ticket)
                guard let delay else {
                    submissions.append(submission)
                    continue
                }
                let intake = self.door.intake
                eventLoop.scheduleTask(in: TimeAmount(delay)) { intake.submit([submission]) }
            case .finish(let packet): self.finish(packet)
            case .report(let fault): self.report(fault)
            case .close: self.context?.closeWhole()
            }
        }
        if !submissions.isEmpty { self.door.intake.submit(submissions) }
        self.adjustReading()
        self.schedule()
    }

    /// What a fault made of a notification.
    private enum Misbehaviour {
        case wait(Duration)
        /// It is not judged any more.
        case done
    }

    private func misbehave(_ notification: BinaryNotification, ticket: UInt32) -> Misbehaviour? {
        self.notifications += 1
        guard case .success(let identity) = self.identity,
            let fault = self.door.fault(notification, from: identity, ordinal: self.notifications)
        else { return nil }
        switch fault.connection {
        case .close, .goAway:
            self.context?.close(promise: nil)
            return .done
        case .stall:
            self.isStalled = true
            return .done
        case nil: break
        }
        if case .refuse(let reason, _) = fault.answer {
            self.machine.refused(ticket: ticket, status: BinaryStatus(rawValue: reason.legacyStatus))
            return .done
        }
        switch fault.before {
        case .wait(let time): return .wait(time)
        case .stall: return .done
        case nil: return nil
        }
    }

    /// The push for the core, unless all is said already.
    private func judge(_ notification: BinaryNotification, ticket: UInt32) -> AcceptedPush? {
        if case .success(let identity) = self.identity, !self.door.certificates.isStillGood(identity) {
            self.identity = .failure(.badCertificate)
        }
        let refusal: BinaryStatus
        switch self.identity.map({ self.door.judge(notification, from: $0) }) {
        case .success(.submit(let push)):
            return push
        case .success(.gone):
            self.machine.accepted(ticket: ticket)
            return nil
        case .success(.refuse(let status)):
            refusal = status
        case .failure(let reason):
            refusal = BinaryStatus(rawValue: reason.legacyStatus)
        }
        self.log("notification refused", refusal)
        self.machine.refused(ticket: ticket, status: refusal)
        return nil
    }

    private func report(_ fault: BinaryServerStateMachine.Fault) {
        self.log(
            "notification cannot be read: connection ends",
            fault.status,
            [
                "command": "\(fault.command.map(String.init) ?? "none")",
                "answered": "\(fault.isAnswered && self.context != nil)",
            ]
        )
    }

    private func log(_ text: Logger.Message, _ status: BinaryStatus, _ more: Logger.Metadata = [:]) {
        var metadata: Logger.Metadata = ["door": "binary", "status": "\(status)"]
        if case .success(let identity) = self.identity { metadata["topic"] = "\(identity.defaultTopic.name)" }
        self.door.logger.info(text, metadata: metadata.merging(more) { $1 })
    }

    /// A close that left bytes of the client unread would be a reset, and that could destroy the packet before the
    /// client reads it (reference 5.3.6): only the write side is closed.
    private func finish(_ packet: BinaryErrorResponse?) {
        guard let context else { return }
        if let packet { context.writeAndFlush(Self.wrapOutboundOut(packet.encoded), promise: nil) }
        context.close(mode: .output, promise: nil)
    }

    private func adjustReading() {
        guard let context, (self.machine.wantsBytes && !self.isStalled) != self.isReading else { return }
        self.isReading.toggle()
        try? context.channel.syncOptions?.setOption(.autoRead, value: self.isReading)
    }

    private func schedule() {
        self.timer?.cancel()
        guard let context, let deadline = self.machine.nextDeadline else { return }
        let delay = max(.zero, deadline.since(self.door.time.steady))
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) {
            self.machine.tick(now: self.door.time.steady)
            self.proceed(context.eventLoop)
        }
    }

    /// Takes settlements from any thread to the handler's own.
    private final class Owner: SubmissionDelegate {
        private let handler: NIOLoopBound<BinaryServerHandler>

        init(handler: NIOLoopBound<BinaryServerHandler>) {
            self.handler = handler
        }

        func settled(_ settlements: [SubmissionResult]) {
            let handler = self.handler
            handler.eventLoop.execute { handler.value.settled(settlements, on: handler.eventLoop) }
        }
    }
}
