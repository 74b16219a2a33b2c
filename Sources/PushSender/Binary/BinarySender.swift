public import Logging
import NIOCore
import NIOPosix
package import PushSupport
public import PushTypes
import PushWire
public import ServiceLifecycle

/// Sends pushes over the binary protocol, for gateways that still offer it (reference 5).
///
/// The protocol confirms nothing: a push counts as accepted once no error packet has come for a quiet period. After an
/// error packet, what the server discarded is sent again on a new connection, from a bounded memory. There is one
/// connection at a time, opened when there is something to send. The client certificate determines the topic; a push's
/// topic, push type, collapse id and additional headers are not transmitted.
///
/// A `BinarySender` is a `Service`. Without a `ServiceGroup`, call ``close()`` in the end.
public actor BinarySender: NotificationSender, Service {
    /// The port of the binary protocol.
    public static let defaultPort = 2195
    /// The number of bytes that are gathered into one write.
    static let writeLength = 32 * 1024

    enum Connection {
        case none, connecting
        /// The next attempt follows after a delay.
        case delayed(Scheduled<Void>)
        case open(any Channel)
    }

    /// One call of ``send(_:)-([Push])``, with its outcomes so far.
    private final class Batch {
        var outcomes: [Outcome?]
        var missing: Int
        var isCancelled = false
        var waiter: CheckedContinuation<Void, Never>?
        /// The means to take its pushes back; `nil` for a call of which none is taken back.
        let call: SteppedCall?

        init(count: Int, call: SteppedCall?) {
            self.outcomes = Array(repeating: nil, count: count)
            self.missing = count
            self.call = call
        }

        func isRecalled(_ index: Int) -> Bool { self.call?.isRecalled(index) ?? false }
    }

    /// The place of one push in its batch.
    private struct Ticket {
        var batch: Batch
        var index: Int
        var id: String
    }

    // Everything runs on one event loop, so that writes, error packets and the end of a connection have one order.
    nonisolated let eventLoop: any EventLoop
    let connector: LegacyConnector
    let configuration: BinaryConfiguration
    let time: any TimeSource
    let logger: Logger
    var stateMachine: BinaryClientStateMachine
    var connection = Connection.none
    /// The number of the current connection, which tells it from earlier ones.
    var connectionNumber = 0
    var lastFailure: String?
    /// The reason for which the last connection could not be opened; `nil` if it was open.
    var lastFault: ConnectionFault?
    var timer: (at: Timestamp, task: Scheduled<Void>)?
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

    /// Creates a sender; it connects once there is something to send.
    /// - Parameters:
    ///   - endpoint: The address of the binary protocol; its port is usually ``defaultPort``.
    ///   - certificate: The provider's certificate, which determines topic and environment.
    ///   - configuration: The format, limits and deadlines.
    ///   - logger: Gets a line for each connection that begins or ends.
    /// - Throws: ``CredentialError`` for a certificate that has expired or belongs to the other environment, and an
    ///   error of the TLS library when the endpoint's additional trust roots are not PEM certificates.
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

    package init(
        connector: LegacyConnector,
        configuration: BinaryConfiguration,
        time: any TimeSource,
        logger: Logger
    ) {
        self.eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        (self.connector, self.configuration, self.time, self.logger) = (connector, configuration, time, logger)
        self.stateMachine = BinaryClientStateMachine(command: configuration.command, limits: configuration.limits)
    }

    /// Sends one push and returns its outcome: after the quiet period, if the push is accepted.
    public func send(_ push: Push) async -> Outcome {
        await self.send([push]).first ?? Self.lost
    }

    /// Sends pushes in this order and returns their outcomes in the same order.
    ///
    /// Cancelling the calling task ends the pushes that were not written yet as not sent.
    public func send(_ pushes: [Push]) async -> [Outcome] { await self.send(pushes, nil) }

    /// Sends pushes, each of which can be taken back until it is written, also if it is written again.
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

    /// Runs until graceful shutdown or cancellation, then closes. Sending works without it, too.
    public func run() async throws {
        try? await gracefulShutdown()
        await self.close()
    }

    /// Takes no more pushes, waits until each has its outcome, then closes the connection.
    public func close() async {
        self.isClosing = true
        self.proceed()
        guard !self.stateMachine.isSettled else { return }
        await withCheckedContinuation { self.waitingForEnd.append($0) }
    }

    private static let lost = Outcome.notSent(.init("nothing was sent"))
}

extension BinarySender {
    /// Writes, connects and resumes callers until nothing more can progress.
    func proceed() {
        guard !self.isProceeding else {
            // The system took a write at once. Its consequences follow in the next round.
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

    /// Performs the actions of the state machine, except writes, which ``write()`` gathers.
    func perform(_ actions: [BinaryClientStateMachine.Action]) {
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

    /// Returns when a notification can be submitted and it is the caller's turn, or when it will not be submitted.
    private func awaitCapacity(for index: Int, of batch: Batch) async {
        var hasWaited = false
        while !self.isClosing, !batch.isCancelled, !batch.isRecalled(index) {
            if self.stateMachine.remainingCapacity == 0 { self.proceed() }
            if self.stateMachine.remainingCapacity > 0, hasWaited || self.waitingForCapacity.isEmpty { return }
            await withCheckedContinuation { self.waitingForCapacity.append($0) }
            hasWaited = true
        }
    }

    /// Withdraws the next pushes to be written as long as they were taken back.
    func withdrawRecalledBeforeWriting() {
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

    /// Ends the pushes that were taken back, and that are not written.
    private func withdrawRecalled() { self.withdraw { ticket in ticket.batch.isRecalled(ticket.index) } }

    private func withdraw(_ isConcerned: (Ticket) -> Bool) {
        let identifiers = self.tickets.filter { isConcerned($0.value) }.keys
        self.perform(self.stateMachine.withdraw(Set(identifiers)))
        // A caller that is concerned may be among those that wait for capacity.
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
