import NIOCore
import PushSupport
import PushTypes
import Synchronization

extension ConnectionPool {
    var wallTime: Timestamp { self.time.now }

    /// A connection of the pool, from the attempt to open it to its end.
    struct Connection {
        /// Is `nil` until the connection has an event loop.
        var handle: ConnectionHandle?
        /// The source of provider tokens of the credential that it was opened with.
        var token: (any ProviderTokenSource)?
        /// Indicates whether it was opened with an earlier identity, and drains.
        var isOutdated = false
        /// Indicates whether the service has sent its settings.
        var isOpen = false
        /// The port of the push service to which it was opened.
        var port = 0
    }

    /// The state of a pool, under its lock.
    struct State {
        var stateMachine: PoolStateMachine
        var queue = WorkQueue()
        var identity: SenderIdentity
        var connections: [Int: Connection] = [:]
        var lastFailure: Outcome.Failure?
        /// The reason for which the latest connection could not be opened; `nil` once one was.
        var fault: ConnectionFault?
        var warning = RepeatedWarning()
        var isExpirySet = false
        var closed: [CheckedContinuation<Void, Never>] = []
        var generator = SystemRandomNumberGenerator()

        var handles: [ConnectionHandle] { self.connections.values.compactMap(\.handle) }
    }

    /// Ends pushes of the batch that no connection has taken.
    func takeBack(_ indices: Set<Int>, of batch: SendBatch) {
        Self.endTakenBack(self.state.withLock { $0.queue.remove(indices, of: batch) })
    }

    /// Ends pushes that were taken back.
    static func endTakenBack(_ tickets: [PushTicket]) {
        for ticket in tickets { ticket.batch.endTakenBack(ticket.index) }
    }

    /// Ends pushes that are not sent.
    static func fail(_ tickets: [PushTicket], _ failure: Outcome.Failure) {
        for ticket in tickets {
            ticket.batch.finish(CollectionOfOne(SendResult(index: ticket.index, outcome: .notSent(failure))))
        }
    }
}
