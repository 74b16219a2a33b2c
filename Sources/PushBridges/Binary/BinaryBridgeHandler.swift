import Logging
import NIOCore
import NIOSSL
import NIOTLS
import PushHTTP
import PushSupport
import PushTypes
import PushWire

/// The handler of a legacy provider's connection. It passes received bytes to ``BinaryServerStateMachine``, and the
/// resulting notifications to ``BinaryIntake``, which stores them. It outlives its connection until all notifications
/// that the legacy provider has sent are stored, because the legacy provider considers them accepted.
final class BinaryBridgeHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The maximum number of notifications that one call passes to ``BinaryIntake``. Others wait for the next call.
    private static let batch = 64

    private let listener: BinaryBridgeListener
    private let certificate: (any Channel) -> [UInt8]?
    private var stateMachine: BinaryServerStateMachine
    /// The actions of the state machine that are still to be performed. Performing one of them may add others.
    private var actions = CircularBuffer<BinaryServerStateMachine.Action>()
    private var isPerforming = false
    /// The connection as ``BinaryIntake`` knows it, or the reason for rejecting it, or `nil` until the certificate is
    /// checked.
    private var connection: Result<BinaryIntake.Connection, BinaryClientRejection>?
    /// The permit from the budget of open connections, or `nil` until the certificate is accepted.
    private var place: BudgetPermit?
    private var waiting = CircularBuffer<BinaryIntake.Item>()
    private var isTaking = false
    /// The context of the channel, or `nil` once the channel is closed.
    private var context: ChannelHandlerContext?
    private var timer: Scheduled<Void>?
    private var isReading = true
    private var isHandshakeDone = false
    /// A Boolean value that indicates whether the legacy provider may send notifications again, because it cannot know
    /// which were stored.
    private var isBroken = false
    /// A Boolean value that indicates whether the legacy provider has closed its write side, or an error packet has
    /// told it which notifications are stored. Otherwise the end of the connection may make it repeat notifications.
    private var hasEnded = false

    init(listener: BinaryBridgeListener, certificate: @escaping (any Channel) -> [UInt8]? = LegacyTLS.peerCertificate) {
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
        self.place?.end()
        self.context = nil
        if !self.hasEnded { self.breakOff() }
        self.perform(self.stateMachine.inputClosed(now: self.listener.time.steady), on: context.eventLoop)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Many clients close TCP without TLS's closure alert. Nothing is lost, because notifications have a length.
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
                    // Closing without an error packet would look like a success.
                    self.connection = .failure(.unavailable("\(error)"))
                }
                self.perform([], on: context.eventLoop)
            }
    }

    /// Takes a permit for the open connection from the budget of its certificate. Returns the connection for
    /// ``BinaryIntake``, or a rejection if the budget is exhausted.
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
            // The payload is copied, because a slice would keep all bytes of its read in memory.
            notification.payload = ByteBuffer(bytes: notification.payload.readableBytesView)
            self.waiting.append(BinaryIntake.Item(ticket: ticket, notification: notification))
        case .finish(let packet): self.finish(packet)
        case .report(let error): self.report(error)
        case .close: self.context?.closeBothSides()
        }
    }

    /// Rejects the first notification of a client that may not push, and drops the others.
    private func rejectUnknown() {
        guard case .failure(let rejection)? = self.connection, let first = self.waiting.popFirst() else { return }
        self.waiting.removeAll()
        self.actions += self.stateMachine.rejected(
            ticket: first.ticket,
            status: rejection.status,
            now: self.listener.time.steady
        )
    }

    /// Passes the next notifications to the intake, unless it is still processing earlier ones.
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
                // Storing took too long. The legacy provider was informed that the notification failed, so it sends it
                // again.
                self.breakOff()
            }
        }
        self.perform(actions, on: eventLoop)
    }

    /// Records that the legacy provider cannot know which of its notifications were stored. Its next connection waits
    /// until this one has no notifications left to store.
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
        // The packet for such an error names no notification. A legacy provider that stops within a notification has
        // crashed.
        if error.status == .protocolError { self.breakOff() }
        var metadata: Logger.Metadata = [
            "listener": "binary", "status": "\(error.status)", "command": "\(error.command.map(String.init) ?? "none")",
            "answered": "\(error.isAnswered && self.context != nil)",
        ]
        if case .success(let connection) = self.connection { metadata["bridge"] = "\(connection.client.bridge)" }
        self.listener.logger.info("malformed notification ends the connection", metadata: metadata)
    }

    /// Writes the error packet, if any, and closes only the write side. Closing both sides while bytes of the client
    /// are unread would send a TCP reset, which could destroy the packet before the client reads it (reference 5.3.6).
    private func finish(_ packet: BinaryErrorResponse?) {
        self.waiting.removeAll()
        if case .success(let connection) = self.connection { connection.end() }
        // The packet does not cover a push that is being stored now. Without a packet, the legacy provider does not
        // know which pushes are stored.
        if self.isTaking || packet == nil && !self.hasEnded { self.breakOff() }
        if packet != nil { self.hasEnded = true }
        guard let context else { return }
        if let packet {
            let written = context.writeAndFlush(Self.wrapOutboundOut(packet.encoded))
            written.assumeIsolated().whenFailure { _ in self.breakOff() }
        }
        context.close(mode: .output, promise: nil)
    }

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

struct BinaryBridgeListener: Sendable {
    let directory: BinaryClientDirectory
    let intake: BinaryIntake
    /// The budget of open connections whose certificate a bridge has accepted.
    let places: Budget
    /// The limits on the rates at which connections are opened. After a client has shown an accepted certificate, its
    /// network has a separate rate.
    let rates: ConnectionRates
    var limits = BinaryServerStateMachine.Limits()
    let time: any TimeSource
    let logger: Logger

    func initialize(_ channel: any Channel) throws {
        try channel.pipeline.syncOperations.addHandler(BinaryBridgeHandler(listener: self))
    }
}
