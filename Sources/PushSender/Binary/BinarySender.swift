package import Logging
package import NIOCore
import NIOPosix
import NIOSSL
package import PushSupport
package import PushTypes
import PushWire

/// Sends over the legacy binary interface, one connection at a time, made when there is something to send.
///
/// It lives on one event loop, so that writes, error packets and the end of a connection have one order. When
/// ``BinaryClientStateMachine/Limits/waiting`` notifications wait, callers wait too. Call ``close()`` in the end.
package actor BinarySender {
    /// Where things stand with the connection.
    enum Link {
        case none
        case pausing(Scheduled<Void>)
        case connecting
        case open(any Channel)
    }

    /// One call of ``send(_:)``: its outcomes as they come in.
    final class Batch {
        var outcomes: [Outcome?]
        var missing: Int
        var isCancelled = false
        var waiter: CheckedContinuation<Void, Never>?

        init(count: Int) {
            self.outcomes = Array(repeating: nil, count: count)
            self.missing = count
        }
    }

    private struct Ticket {
        var batch: Batch
        var index: Int
        var id: String
    }

    /// Bytes gathered into one write.
    static let writeLength = 32 * 1024

    nonisolated let eventLoop: any EventLoop
    let configuration: BinaryConfiguration
    let time: any TimeSource
    let logger: Logger
    var machine: BinaryClientStateMachine
    var link = Link.none
    /// Counts connections, so that a late event of an old one is told apart.
    var connectionNumber = 0
    var lastFailure: String?
    var timer: (at: Timestamp, task: Scheduled<Void>)?
    private var tickets: [UInt32: Ticket] = [:]
    private var batches: [Int: Batch] = [:]
    private var lastBatch = 0
    private var waitingForRoom: [CheckedContinuation<Void, Never>] = []
    private var waitingForEnd: [CheckedContinuation<Void, Never>] = []
    private var isClosing = false
    private var isProceeding = false
    private var proceedsAgain = false

    package nonisolated var unownedExecutor: UnownedSerialExecutor { self.eventLoop.executor.asUnownedSerialExecutor() }

    package init(
        configuration: BinaryConfiguration,
        eventLoop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next(),
        time: any TimeSource = SystemTime(),
        logger: Logger
    ) {
        self.eventLoop = eventLoop
        self.configuration = configuration
        self.time = time
        self.logger = logger
        self.machine = BinaryClientStateMachine(command: configuration.command, limits: configuration.limits)
    }

    /// Returns when the notification has its final state: after the quiet period, if all is well.
    package func send(_ notification: PushNotification, to token: DeviceToken) async -> Outcome {
        await self.send([(notification, token)]).first ?? .notSent(.init("nothing was sent"))
    }

    /// Sends all, in this order, over one connection as long as it lasts; the outcomes stand in the same order.
    ///
    /// A cancelled caller gets back what had not been written yet as not sent.
    package func send(_ notifications: [(PushNotification, DeviceToken)]) async -> [Outcome] {
        let batch = Batch(count: notifications.count)
        self.lastBatch &+= 1
        let number = self.lastBatch
        self.batches[number] = batch
        await withTaskCancellationHandler {
            for (index, (notification, token)) in notifications.enumerated() {
                await self.submit(notification, to: token, index: index, of: batch)
            }
            self.proceed()
            if batch.missing > 0 { await withCheckedContinuation { batch.waiter = $0 } }
        } onCancel: {
            Task { await self.cancel(batch: number) }
        }
        self.batches[number] = nil
        return batch.outcomes.map { $0 ?? .notSent(.init("nothing was sent")) }
    }

    /// Takes no more notifications, waits until each has its final state, then closes the connection.
    package func close() async {
        self.isClosing = true
        self.proceed()
        guard !self.machine.isSettled else { return }
        await withCheckedContinuation { self.waitingForEnd.append($0) }
    }

    /// Goes on wherever that is possible: write, connect, let callers in, end.
    func proceed() {
        guard !self.isProceeding else {
            // The system took a write at once: what that makes possible is next, not within.
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

    private func takeStep() {
        self.write()
        self.connectIfNeeded()
        self.scheduleTick()
        if self.isClosing || self.machine.room > 0 {
            let welcome = self.waitingForRoom.prefix(self.isClosing ? .max : self.machine.room)
            self.waitingForRoom.removeFirst(welcome.count)
            for waiter in welcome { waiter.resume() }
        }
        if self.isClosing, self.machine.isSettled {
            self.disconnect()
            self.timer?.task.cancel()
            for waiter in self.waitingForEnd { waiter.resume() }
            self.waitingForEnd = []
        }
    }

    /// Performs what the machine has decided.
    func perform(_ actions: [BinaryClientStateMachine.Action]) {
        for action in actions {
            switch action {
            case .write: break
            case .finished(let identifier, let state): self.finish(identifier, state)
            case .wasNotAccepted(let count, let status):
                self.logger.error(
                    "error packet came after the quiet period: notifications counted as accepted were not",
                    metadata: ["count": "\(count)", "status": "\(status)"]
                )
            case .close(let reason):
                self.logger.notice("connection to the legacy push service ended", metadata: ["reason": "\(reason)"])
                self.lastFailure = "\(reason)"
                self.disconnect()
            }
        }
    }

    private func submit(_ notification: PushNotification, to token: DeviceToken, index: Int, of batch: Batch) async {
        await self.room(for: batch)
        let now = self.time.now
        var content = BinaryNotification(notification, to: token)
        if self.configuration.command == .enhanced, content.expiration == nil {
            // Command 1 always has the field, where 0 would mean not to store.
            content.expiration = notification.expiration.storageEnd(acceptedAt: now).map {
                UInt32(clamping: $0.seconds)
            }
        }
        if batch.isCancelled || Task.isCancelled {
            self.finish(batch, index, .notSent(.init("the caller was cancelled")))
        } else if self.isClosing {
            self.finish(batch, index, .notSent(.init("the sender is closing")))
        } else if let (identifier, actions) = self.machine.submit(content, now: self.time.steady) {
            self.tickets[identifier] = Ticket(batch: batch, index: index, id: notification.id)
            self.perform(actions)
        } else {
            self.finish(batch, index, .notSent(.init("too many notifications are waiting")))
        }
    }

    /// Returns when there is room and it is the caller's turn, or when neither matters any more.
    private func room(for batch: Batch) async {
        var hasWaited = false
        while !self.isClosing, !batch.isCancelled {
            if self.machine.room == 0 { self.proceed() }
            if self.machine.room > 0, hasWaited || self.waitingForRoom.isEmpty { return }
            await withCheckedContinuation { self.waitingForRoom.append($0) }
            hasWaited = true
        }
    }

    private func cancel(batch number: Int) {
        guard let batch = self.batches[number] else { return }
        batch.isCancelled = true
        let identifiers = self.tickets.filter { $0.value.batch === batch }.keys
        self.perform(self.machine.withdraw(Set(identifiers)))
        // Whoever waits for room and is cancelled must look at it.
        for waiter in self.waitingForRoom { waiter.resume() }
        self.waitingForRoom = []
        self.proceed()
    }

    private func finish(_ identifier: UInt32, _ state: BinaryClientStateMachine.FinalState) {
        guard let ticket = self.tickets.removeValue(forKey: identifier) else { return }
        self.finish(ticket.batch, ticket.index, Outcome(state, id: ticket.id, lastFailure: self.lastFailure))
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
