public import Logging
import NIOCore
import NIOPosix
package import PushSupport
public import PushTypes
import PushWire
public import ServiceLifecycle

/// A sender of pushes over the binary protocol, for gateways that still offer it (APNs reference 5).
///
/// The protocol confirms nothing: a push counts as accepted if no error packet arrives for a quiet period. After an
/// error packet, the pushes that the server discarded are sent again on a new connection, if the sender still has them.
/// There is one connection at a time, which is opened when there is something to send. The client certificate
/// determines the topic. A push's topic, push type, collapse id and additional headers are not transmitted.
///
/// A `BinarySender` is a `Service`. Without a `ServiceGroup`, call ``close()`` when the sender is no longer needed.
public actor BinarySender: NotificationSender, Service {
    /// The port of the binary protocol.
    public static let defaultPort = 2195
    /// The size of a write, in bytes, from which no further notification is added to it.
    private static let writeLength = 32 * 1024

    private enum Connection {
        case none, connecting
        /// A state in which the next attempt to connect follows after a delay.
        case delayed(Scheduled<Void>)
        case open(any Channel)
    }

    /// One call of ``send(_:)-([Push])``, with its outcomes so far.
    private final class Batch {
        var outcomes: [Outcome?]
        var missing: Int
        var isCancelled = false
        var waiter: CheckedContinuation<Void, Never>?
        /// The call through which the pushes can be taken back, or `nil` if they cannot be taken back.
        let call: SteppedCall?

        init(count: Int, call: SteppedCall?) {
            self.outcomes = Array(repeating: nil, count: count)
            self.missing = count
            self.call = call
        }

        func isRecalled(_ index: Int) -> Bool { self.call?.isRecalled(index) ?? false }
    }

    private struct Ticket {
        var batch: Batch
        var index: Int
        var id: String
    }

    // Everything runs on one event loop, so that writes, error packets and the closing of a connection have one order.
    private nonisolated let eventLoop: any EventLoop
    private let connector: LegacyConnector
    private let configuration: BinaryConfiguration
    private let time: any TimeSource
    private let logger: Logger
    private var stateMachine: BinaryClientStateMachine
    private var connection = Connection.none
    /// The number of the current connection. Events with another number belong to an earlier one and are ignored.
    private var connectionNumber = 0
    private var lastFailure: String?
    /// The reason why the last connection could not be opened, or `nil` if it could.
    private var lastFault: ConnectionFault?
    private var timer: (at: Timestamp, task: Scheduled<Void>)?
    private var tickets: [UInt32: Ticket] = [:]
    private var batches: [Int: Batch] = [:]
    private var lastBatch = 0
    private var waitingForCapacity: [CheckedContinuation<Void, Never>] = []
    private var waitingForEnd: [CheckedContinuation<Void, Never>] = []
    private var isClosing = false
    private var isProceeding = false
    private var proceedsAgain = false

    /// The event loop of the connection, on which the actor runs.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { self.eventLoop.executor.asUnownedSerialExecutor() }

    /// Creates a sender, which connects once there is something to send.
    /// - Parameters:
    ///   - endpoint: The address of the binary protocol, whose port is usually ``defaultPort``.
    ///   - certificate: The provider's certificate, which determines the topic and the environment.
    ///   - configuration: The format, limits and deadlines.
    ///   - logger: The logger for connections that are opened or closed.
    /// - Throws: ``CredentialError`` for a certificate that has expired or belongs to the other environment, or an
    ///   error of the TLS library if the endpoint's additional trust roots are not PEM certificates.
    public init(
        to endpoint: PushServiceEndpoint,
        certificate: ClientCertificate,
        configuration: BinaryConfiguration = BinaryConfiguration(),
        logger: Logger
    ) throws {
        self.init(
            connector: try LegacyConnector(to: endpoint, certificate: certificate),
            configuration: configuration,
            time: SystemTime(),
            logger: logger
        )
    }

    package init(connector: LegacyConnector, configuration: BinaryConfiguration, time: any TimeSource, logger: Logger) {
        self.eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        (self.connector, self.configuration, self.time, self.logger) = (connector, configuration, time, logger)
        self.stateMachine = BinaryClientStateMachine(command: configuration.command, limits: configuration.limits)
    }

    /// Sends one push and returns its outcome. For an accepted push, the call returns after the quiet period.
    public func send(_ push: Push) async -> Outcome { await self.send([push]).first ?? Self.lost }

    /// Sends pushes in this order and returns their outcomes in the same order. If the calling task is cancelled,
    /// pushes that were not written yet end as not sent.
    public func send(_ pushes: [Push]) async -> [Outcome] { await self.send(pushes, nil) }

    /// Sends pushes, each of which can be taken back before it is written, and also before it is written again.
    /// - Parameter began: A closure that receives the call, which can take pushes back, as soon as it has begun.
    package nonisolated func follow(_ pushes: [Push], began: (any PushCall) -> Void) async -> SentPushes {
        let call = SteppedCall(count: pushes.count) { [weak self] in Task { await self?.withdrawRecalled() } }
        began(call)
        return SentPushes(outcomes: await self.send(pushes, call))
    }

    private func send(_ pushes: [Push], _ call: SteppedCall?) async -> [Outcome] {
        let batch = Batch(count: pushes.count, call: call)
        self.lastBatch &+= 1
        let number = self.lastBatch
        self.batches[number] = batch
        await withTaskCancellationHandler {
            for (index, push) in pushes.enumerated() { await self.submit(push, index: index, of: batch) }
            self.proceed()
            if batch.missing > 0 { await withCheckedContinuation { batch.waiter = $0 } }
        } onCancel: {
            Task { await self.cancel(batch: number) }
        }
        self.batches[number] = nil
        return batch.outcomes.map { $0 ?? Self.lost }
    }

    /// Runs until graceful shutdown or cancellation, then closes the sender. Pushes can also be sent without this call.
    public func run() async throws {
        try? await gracefulShutdown()
        await self.close()
    }

    /// Stops accepting pushes, waits until each has its outcome, and then closes the connection.
    public func close() async {
        self.isClosing = true
        self.proceed()
        guard !self.stateMachine.isSettled else { return }
        await withCheckedContinuation { self.waitingForEnd.append($0) }
    }

    private static let lost = Outcome.notSent(.init("nothing was sent"))
}

extension BinarySender {
    /// Writes, connects and resumes callers until there is nothing more to do.
    func proceed() {
        guard !self.isProceeding else {
            // The system took a write immediately. Its consequences follow in the next round.
            self.proceedsAgain = true
            return
        }
        self.isProceeding = true
        repeat {
            self.proceedsAgain = false
            self.takeStep()
        } while self.proceedsAgain
        self.isProceeding = false
    }

    private func perform(_ actions: [BinaryClientStateMachine.Action]) {
        for action in actions {
            switch action {
            case .write: break
            case .finished(let identifier, let state): self.finish(identifier, state)
            case .lateError(let count, let status):
                self.logger.error(
                    "error packet after the quiet period: accepted notifications were discarded",
                    metadata: ["count": "\(count)", "status": "\(status)"]
                )
            case .close(let reason):
                self.logger.notice("connection to the push service ended", metadata: ["reason": "\(reason)"])
                self.lastFailure = "\(reason)"
                self.disconnect()
            }
        }
    }

    private func takeStep() {
        self.write()
        self.connectIfNeeded()
        self.scheduleTick()
        if self.isClosing || self.stateMachine.remainingCapacity > 0 {
            let capacity = self.isClosing ? .max : self.stateMachine.remainingCapacity
            let resumed = self.waitingForCapacity.prefix(capacity)
            self.waitingForCapacity.removeFirst(resumed.count)
            for waiter in resumed { waiter.resume() }
        }
        if self.isClosing, self.stateMachine.isSettled {
            self.disconnect()
            self.timer?.task.cancel()
            for waiter in self.waitingForEnd { waiter.resume() }
            self.waitingForEnd = []
        }
    }

    private func submit(_ push: Push, index: Int, of batch: Batch) async {
        await self.awaitCapacity(for: index, of: batch)
        let now = self.time.now
        var notification = BinaryNotification(push.notification, to: push.token)
        if self.configuration.command == .enhanced, notification.expiration == nil {
            // Command 1 always has the field, and 0 would mean not to store.
            notification.expiration = push.notification.expiration.storageEnd(acceptedAt: now).map {
                UInt32(clamping: $0.seconds)
            }
        }
        if batch.isCancelled || Task.isCancelled {
            self.finish(batch, index, .notSent(.init("the caller was cancelled")))
        } else if batch.isRecalled(index) {
            self.finish(batch, index, .notSent(.takenBack))
        } else if self.isClosing {
            self.finish(batch, index, .notSent(.init("the sender is closing")))
        } else {
            let identifier = self.stateMachine.nextIdentifier
            self.tickets[identifier] = Ticket(batch: batch, index: index, id: push.notification.id)
            self.perform(self.stateMachine.submit(notification, now: self.time.steady))
        }
    }

    /// Waits until the push at `index` can be submitted and it is the caller's turn, or until it is certain that it
    /// will not be submitted.
    private func awaitCapacity(for index: Int, of batch: Batch) async {
        var hasWaited = false
        while !self.isClosing, !batch.isCancelled, !batch.isRecalled(index) {
            if self.stateMachine.remainingCapacity == 0 { self.proceed() }
            if self.stateMachine.remainingCapacity > 0, hasWaited || self.waitingForCapacity.isEmpty { return }
            await withCheckedContinuation { self.waitingForCapacity.append($0) }
            hasWaited = true
        }
    }

    private func withdrawRecalledBeforeWriting() {
        while let identifier = self.stateMachine.nextToWrite, let ticket = self.tickets[identifier],
            ticket.batch.call?.begins(ticket.index) == false
        {
            self.perform(self.stateMachine.withdraw([identifier]))
        }
    }

    private func cancel(batch number: Int) {
        guard let batch = self.batches[number] else { return }
        batch.isCancelled = true
        self.withdraw { ticket in ticket.batch === batch }
    }

    private func withdrawRecalled() { self.withdraw { ticket in ticket.batch.isRecalled(ticket.index) } }

    private func withdraw(_ isConcerned: (Ticket) -> Bool) {
        let identifiers = self.tickets.filter { isConcerned($0.value) }.keys
        self.perform(self.stateMachine.withdraw(Set(identifiers)))
        // A caller whose pushes are withdrawn may be waiting for capacity.
        for waiter in self.waitingForCapacity { waiter.resume() }
        self.waitingForCapacity = []
        self.proceed()
    }

    private func finish(_ identifier: UInt32, _ state: BinaryClientStateMachine.FinalState) {
        guard let ticket = self.tickets.removeValue(forKey: identifier) else { return }
        if state == .notSent(.withdrawn), !ticket.batch.isCancelled {
            return self.finish(ticket.batch, ticket.index, .notSent(.takenBack))
        }
        self.finish(
            ticket.batch,
            ticket.index,
            Outcome(state, id: ticket.id, lastFailure: self.lastFailure, fault: self.lastFault)
        )
    }

    private func finish(_ batch: Batch, _ index: Int, _ outcome: Outcome) {
        guard batch.outcomes.indices.contains(index), batch.outcomes[index] == nil else { return }
        batch.outcomes[index] = outcome
        batch.missing -= 1
        if batch.missing == 0 {
            batch.waiter?.resume()
            batch.waiter = nil
        }
    }
}

/// The connection of a ``BinarySender`` and its timer. These methods run on the event loop.
extension BinarySender {
    func connected(_ channel: any Channel, number: Int) {
        guard number == self.connectionNumber, case .connecting = self.connection else {
            channel.close(promise: nil)
            return
        }
        self.logger.info("connected to the push service", metadata: ["host": "\(self.connector.endpoint.host)"])
        self.connection = .open(channel)
        (self.lastFailure, self.lastFault) = (nil, nil)
        self.stateMachine.connected()
        self.proceed()
    }

    func receive(_ bytes: ByteBuffer, number: Int) {
        guard number == self.connectionNumber else { return }
        self.perform(self.stateMachine.receive(bytes, now: self.time.steady))
        self.proceed()
    }

    func connectionClosed(_ error: (any Error)?, number: Int) {
        guard number == self.connectionNumber else { return }
        self.connectionNumber &+= 1
        let wasOpen = self.stateMachine.isConnected
        self.lastFailure = error.map { "\($0)" }
        self.lastFault = self.fault(of: error, wasOpen: wasOpen)
        self.logger.log(
            level: wasOpen && error == nil ? .info : .warning,
            "no connection to the push service",
            metadata: ["error": "\(self.lastFailure ?? "closed by the push service")"]
        )
        self.connection = .none
        if wasOpen, self.stateMachine.hasAcceptedNotification || !Self.isCertificateRejected(error) {
            self.perform(self.stateMachine.connectionClosed())
        } else {
            self.stateMachine.connectionFailed()
            if self.configuration.failsFast { self.perform(self.stateMachine.giveUp()) }
        }
        self.proceed()
    }

    /// Closes the connection, or abandons the attempt to open one. Later events of that connection are ignored.
    private func disconnect() {
        self.connectionNumber &+= 1
        switch self.connection {
        case .open(let channel): channel.close(promise: nil)
        case .delayed(let task): task.cancel()
        case .none, .connecting: break
        }
        self.connection = .none
    }

    private func connectIfNeeded() {
        guard case .none = self.connection, self.stateMachine.needsConnection else { return }
        guard self.stateMachine.failures > 0 else { return self.connect() }
        var generator = SystemRandomNumberGenerator()
        let delay = self.configuration.reconnect.delay(afterFailures: self.stateMachine.failures, using: &generator)
        self.connection = .delayed(
            self.eventLoop.scheduleTask(in: TimeAmount(delay)) {
                self.assumeIsolated { $0.connect() }
            }
        )
    }

    /// Writes while the channel is writable. A write's quiet period begins when the system has accepted its bytes.
    private func write() {
        guard case .open(let channel) = self.connection else { return }
        let (now, number) = (self.time.steady, self.connectionNumber)
        while channel.isWritable, number == self.connectionNumber {
            var (bytes, last) = (ByteBuffer(), UInt32?.none)
            while bytes.readableBytes < Self.writeLength {
                self.withdrawRecalledBeforeWriting()
                let actions = self.stateMachine.nextWrite(now: now)
                guard case .write(let notification) = actions.last else { break }
                BinaryFrame(command: self.configuration.command, notification: notification).write(to: &bytes)
                last = notification.identifier
                self.perform(actions)
            }
            guard let last else { return }
            channel.writeAndFlush(bytes).whenSuccess {
                self.assumeIsolated { $0.written(through: last, number: number) }
            }
        }
    }

    private func scheduleTick() {
        guard let deadline = self.stateMachine.nextDeadline else { return }
        if let timer = self.timer, timer.at <= deadline { return }
        self.timer?.task.cancel()
        let delay = max(.zero, deadline.since(self.time.steady))
        let task = self.eventLoop.scheduleTask(in: TimeAmount(delay)) {
            self.assumeIsolated { $0.tick() }
        }
        self.timer = (deadline, task)
    }

    private func written(through identifier: UInt32, number: Int) {
        guard number == self.connectionNumber else { return }
        self.stateMachine.written(through: identifier, now: self.time.steady)
        self.proceed()
    }

    private func tick() {
        self.timer = nil
        self.perform(self.stateMachine.tick(now: self.time.steady))
        self.proceed()
    }

    private func connect() {
        self.connection = .none
        guard self.stateMachine.needsConnection else { return }
        self.connectionNumber &+= 1
        self.connection = .connecting
        let (number, timeout) = (self.connectionNumber, TimeAmount(self.connector.endpoint.connectTimeout))
        self.connector.connect(on: self.eventLoop) { channel in
            try channel.pipeline.syncOperations.addHandler(
                BinaryConnectionHandler(sender: self, number: number, handshakeTimeout: timeout)
            )
        }
        .whenFailure { error in
            self.assumeIsolated { $0.connectionClosed(error, number: number) }
        }
    }

    /// Returns the reason why no connection could be opened, or `nil` if an open connection was closed.
    private func fault(of error: (any Error)?, wasOpen: Bool) -> ConnectionFault? {
        let cause: ConnectionFault.Cause
        if Self.isCertificateRejected(error) {
            cause = .clientCertificateRejected
        } else if wasOpen {
            return nil
        } else {
            cause = error.map { ConnectionError($0).cause } ?? .closed
        }
        return ConnectionFault(cause, host: self.connector.endpoint.host, port: self.connector.endpoint.port)
    }

    /// Returns whether the server closed the connection because it rejects the client certificate. In TLS 1.3, the
    /// alert for this follows the handshake. Notifications may have been written by then, but the server has read none
    /// of them.
    private static func isCertificateRejected(_ error: (any Error)?) -> Bool {
        guard let error else { return false }
        let text = "\(error)"
        return [
            "CERTIFICATE_REQUIRED", "BAD_CERTIFICATE", "ALERT_CERTIFICATE_", "UNSUPPORTED_CERTIFICATE",
            "ALERT_UNKNOWN_CA", "ALERT_ACCESS_DENIED",
        ].contains { text.contains($0) }
    }
}

/// The settings of a ``BinarySender``. The defaults suit Apple's former service and Martlet's gateway.
public struct BinaryConfiguration: Sendable {
    /// The format of the notifications. Default `framed`.
    public var command = BinaryCommand.framed
    /// The maximum number of written notifications that are kept for resending after an error packet. If it is
    /// exceeded, the oldest notification counts as accepted. Default 8192.
    public var maximumWritten = 8192
    /// The maximum number of notifications that wait to be written. At the limit, callers of `send` wait. Default 1024.
    public var maximumWaiting = 1024
    /// The time after which a written notification without an error packet counts as accepted. Default 1 s.
    public var quietPeriod: Duration = .seconds(1)
    /// The maximum time from the submission of a notification until it is written, including connecting. After it, the
    /// notification ends as not sent. Default 30 s.
    public var waitTimeout: Duration = .seconds(30)
    /// The maximum delay after the first failed connection. It doubles with each further failure. Default 500 ms.
    public var reconnectBase: Duration = .milliseconds(500)
    /// The maximum delay between two attempts to connect. Default 1 min.
    public var reconnectMaximum: Duration = .seconds(60)

    /// A Boolean value that indicates whether the waiting notifications fail as soon as a connection cannot be opened.
    /// Default `false`, which means that another attempt is made.
    package var failsFast = false

    /// Creates a configuration with the default values.
    public init() {}

    fileprivate var limits: BinaryClientStateMachine.Limits {
        var limits = BinaryClientStateMachine.Limits()
        limits.written = self.maximumWritten
        limits.waiting = self.maximumWaiting
        limits.quiet = self.quietPeriod
        limits.wait = self.waitTimeout
        return limits
    }

    fileprivate var reconnect: Backoff { Backoff(base: self.reconnectBase, maximum: self.reconnectMaximum) }
}
