import Logging
import NIOCore
import NIOSSL
import NIOTLS
import PushHTTP
import PushSupport
import PushTypes
import PushWire

/// Translates between bytes, the intake and ``BinaryServerStateMachine``.
///
/// It outlives its connection until everything that the old provider had sent is stored, because the provider counts that as
/// accepted.
final class BinaryBridgeHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The notifications that the intake takes at a time.
    private static let batch = 64

    private let listener: BinaryBridgeListener
    private let certificate: (any Channel) -> [UInt8]?
    private var stateMachine: BinaryServerStateMachine
    /// The actions still to be performed, as performing one may cause others.
    private var actions = CircularBuffer<BinaryServerStateMachine.Action>()
    private var isPerforming = false
    /// `nil` until the certificate is known.
    private var connection: Result<BinaryIntake.Connection, BinaryClientRejection>?
    /// Its part of the connections, from when its certificate is known.
    private var place: BudgetPermit?
    /// The notifications that the intake has not got yet.
    private var waiting = CircularBuffer<BinaryIntake.Item>()
    private var isTaking = false
    /// `nil` once the connection is gone.
    private var context: ChannelHandlerContext?
    private var timer: Scheduled<Void>?
    private var isReading = true
    private var isHandshakeDone = false
    /// Indicates whether the provider cannot know what was stored.
    private var isBroken = false
    /// Indicates whether the provider has closed its side, or was told how far everything is stored.
    private var hasEnded = false

    init(
        listener: BinaryBridgeListener,
        certificate: @escaping (any Channel) -> [UInt8]? = LegacyTLS.peerCertificate
    ) {
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
            self.identify(context: context)
        case is ChannelShouldQuiesceEvent:
            self.perform(self.stateMachine.shutDown(now: self.listener.time.steady), on: context.eventLoop)
        case ChannelEvent.inputClosed:
            self.hasEnded = true
            self.perform(self.stateMachine.inputClosed(now: self.listener.time.steady), on: context.eventLoop)
        default:
            break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let actions = self.stateMachine.receive(Self.unwrapInboundIn(data), now: self.listener.time.steady)
        self.perform(actions, on: context.eventLoop)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.timer?.cancel()
        self.place?.end()
        self.context = nil
        if !self.hasEnded { self.breakOff() }
        self.perform(self.stateMachine.inputClosed(now: self.listener.time.steady), on: context.eventLoop)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Many clients close TCP without the closure alert of TLS. Nothing is lost, as each notification has its length.
        if self.isHandshakeDone, case NIOSSLError.uncleanShutdown = error { return }
        if !self.isHandshakeDone {
            self.listener.logger.info("TLS handshake failed", metadata: LegacyTLS.metadata(error, "binary"))
        }
        context.close(promise: nil)
    }

    private func identify(context: ChannelHandlerContext) {
        let (directory, certificate) = (self.listener.directory, self.certificate(context.channel))
        context.eventLoop.makeFutureWithTask { try await directory.sendingClient(certificate) }
            .assumeIsolated()
            .whenComplete { result in
                switch result {
                case .success(.success(let client)):
                    UnauthenticatedConnectionBudget.markAuthenticated(context.channel)
                    self.connection = self.admit(client)
                    if self.isBroken { self.breakOff() }
                case .success(.failure(let rejection)):
                    let metadata: Logger.Metadata = ["listener": "binary", "reason": "\(rejection)"]
                    self.listener.logger.warning("old provider rejected", metadata: metadata)
                    self.connection = .failure(rejection)
                case .failure(let error):
                    let metadata: Logger.Metadata = ["error": "\(error)"]
                    self.listener.logger.error("the bridges cannot be read", metadata: metadata)
                    // A mere end would look like a success.
                    self.connection = .failure(.unavailable("\(error)"))
                }
                self.perform([], on: context.eventLoop)
            }
    }

    /// Takes a place of its certificate's for the connection while it is open.
    private func admit(_ client: BinaryClient) -> Result<BinaryIntake.Connection, BinaryClientRejection> {
        do throws(BudgetRefusal) {
            let owner = BudgetCaller(app: client.topic, .name(client.fingerprint))
            let place = try self.listener.places.take(for: owner)
            if let context = self.context {
                self.place = place
                self.listener.rates.note(owner, on: context.channel)
            }
            return .success(BinaryIntake.Connection(client))
        } catch {
            let reason = error.error.error.message
            self.listener.logger.warning(
                "old provider rejected",
                metadata: ["listener": "binary", "reason": "\(reason)"]
            )
            return .failure(.unavailable(reason))
        }
    }

    /// Performs actions in their order, then gives the intake what waits.
    private func perform(_ actions: [BinaryServerStateMachine.Action], on eventLoop: any EventLoop) {
        self.actions += actions
        guard !self.isPerforming else { return }
        self.isPerforming = true
        repeat {
            while let action = self.actions.popFirst() { self.perform(action) }
            self.rejectUnknown()
        } while !self.actions.isEmpty
        self.isPerforming = false
        self.takeNext(on: eventLoop)
        self.adjustReading()
        self.schedule()
    }

    private func perform(_ action: BinaryServerStateMachine.Action) {
        switch action {
        case .submit(let ticket, var notification):
            // A copy, because the slice would keep all bytes of its read in memory.
            notification.payload = ByteBuffer(bytes: notification.payload.readableBytesView)
            self.waiting.append(BinaryIntake.Item(ticket: ticket, notification: notification))
        case .finish(let packet): self.finish(packet)
        case .report(let error): self.report(error)
        case .close: self.context?.closeBothSides()
        }
    }

    /// Rejects the first notification of a client that may not push.
    private func rejectUnknown() {
        guard case .failure(let rejection)? = self.connection, let first = self.waiting.popFirst() else { return }
        self.waiting.removeAll()
        self.actions += self.stateMachine.rejected(
            ticket: first.ticket,
            status: rejection.status,
            now: self.listener.time.steady
        )
    }

    /// Gives the intake the next notifications, once it has taken those before.
    private func takeNext(on eventLoop: any EventLoop) {
        guard !self.isTaking, let connection else { return }
        guard !self.waiting.isEmpty else {
            if self.context == nil { self.connectionEnded() }
            return
        }
        guard case .success(let connection) = connection else { return }
        let items = Array(self.waiting.prefix(Self.batch))
        self.waiting.removeFirst(items.count)
        self.isTaking = true
        let intake = self.listener.intake
        eventLoop.makeFutureWithTask { await intake.take(items, of: connection) }
            .assumeIsolated()
            .whenSuccess { results in
                self.isTaking = false
                self.settle(results, on: eventLoop)
            }
    }

    private func settle(_ results: [BinaryIntake.Result], on eventLoop: any EventLoop) {
        let now = self.listener.time.steady
        var actions: [BinaryServerStateMachine.Action] = []
        for result in results {
            if let status = result.rejection {
                self.waiting.removeAll()
                actions += self.stateMachine.rejected(ticket: result.ticket, status: status, now: now)
            } else if self.stateMachine.isInFlight(result.ticket) {
                actions += self.stateMachine.accepted(ticket: result.ticket, now: now)
            } else {
                // It took too long, and the provider was told that it failed: it comes again.
                self.breakOff()
            }
        }
        self.perform(actions, on: eventLoop)
    }

    /// Notes that the provider cannot know what was stored, and lets its next connection wait until that is certain.
    private func breakOff() {
        self.isBroken = true
        if case .success(let connection) = self.connection { self.listener.intake.ending.begin(connection) }
    }

    private func connectionEnded() {
        guard case .success(let connection) = self.connection else { return }
        self.connection = nil
        self.listener.intake.connectionEnded(connection, isBroken: self.isBroken)
    }

    private func report(_ error: BinaryServerStateMachine.MalformedNotification) {
        // Its packet names no notification, and a provider that ended within one has died.
        if error.status == .protocolError { self.breakOff() }
        var metadata: Logger.Metadata = [
            "listener": "binary", "status": "\(error.status)", "command": "\(error.command.map(String.init) ?? "none")",
            "answered": "\(error.isAnswered && self.context != nil)",
        ]
        if case .success(let connection) = self.connection { metadata["bridge"] = "\(connection.client.bridge)" }
        self.listener.logger.info("malformed notification ends the connection", metadata: metadata)
    }

    /// Writes the packet and closes the write side only. A full close with unread bytes of the client would be a reset,
    /// which could destroy the packet before the client reads it (reference 5.3.6).
    private func finish(_ packet: BinaryErrorResponse?) {
        self.waiting.removeAll()
        if case .success(let connection) = self.connection { connection.end() }
        // A push that is being stored now is not before the packet, and without a packet the provider knows nothing.
        if self.isTaking || packet == nil && !self.hasEnded { self.breakOff() }
        if packet != nil { self.hasEnded = true }
        guard let context else { return }
        if let packet {
            let written = context.writeAndFlush(Self.wrapOutboundOut(packet.encoded))
            written.assumeIsolated().whenFailure { _ in self.breakOff() }
        }
        context.close(mode: .output, promise: nil)
    }

    /// Stops and resumes reading as the state machine wants.
    private func adjustReading() {
        guard let context, self.stateMachine.wantsBytes != self.isReading else { return }
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
}
