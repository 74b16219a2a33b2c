package import PushTypes
import Synchronization

/// A sender of notifications to one push service with one credential. The provider's dispatcher accesses the push
/// service through this protocol only. No method throws an error, because every failure is an ``Outcome``.
package protocol NotificationSender: Sendable {
    /// Sends pushes and returns their outcomes in the same order.
    func send(_ pushes: [Push]) async -> [Outcome]
    /// Sends pushes and returns their outcomes with the connection and the time of each push.
    func follow(_ pushes: [Push]) async -> SentPushes
    /// Sends pushes, which can be taken back until a connection accepts them. Returns their outcomes with the
    /// connection and the time of each push.
    /// - Parameter began: A closure that receives the call, which can take pushes back, as soon as it has begun.
    func follow(_ pushes: [Push], began: (any PushCall) -> Void) async -> SentPushes
}

extension NotificationSender {
    package func follow(_ pushes: [Push]) async -> SentPushes { SentPushes(outcomes: await self.send(pushes)) }

    /// Sends pushes, none of which can be taken back, so that `began` is not called.
    package func follow(_ pushes: [Push], began: (any PushCall) -> Void) async -> SentPushes {
        await self.follow(pushes)
    }
}

/// A call of a ``NotificationSender``. Each push can be taken back until a connection accepts it.
package protocol PushCall: AnyObject, Sendable {
    /// Takes pushes back. Those that no connection has accepted end as ``Outcome/notSent(_:)``.
    /// - Parameter isRecalled: A closure that returns `true` for the position of each push that is to be taken back.
    /// - Returns: The number of these pushes that a connection has already accepted.
    func takeBack(where isRecalled: (Int) -> Bool) -> Int
}

extension Outcome.Failure {
    /// The failure of a push that was taken back before a connection accepted it.
    package static let takenBack = Self("it was taken back before it was sent")
}

/// A call of a sender that starts its pushes one by one. Each can be taken back until it is started.
package final class SteppedCall: PushCall {
    private struct State {
        var begun: Set<Int> = []
        var recalled: Set<Int> = []
    }

    private let count: Int
    /// A closure that is called after pushes were taken back, or `nil` to call nothing.
    private let observer: (@Sendable () -> Void)?
    private let state = Mutex(State())

    package init(count: Int, observer: (@Sendable () -> Void)? = nil) {
        (self.count, self.observer) = (count, observer)
    }

    package func takeBack(where isRecalled: (Int) -> Bool) -> Int {
        let recalled = Set((0..<self.count).filter(isRecalled))
        let underWay = self.state.withLock { state in
            state.recalled.formUnion(recalled)
            return recalled.intersection(state.begun).count
        }
        self.observer?()
        return underWay
    }

    /// Records that a push is started, possibly again, and returns `true`. If the push was taken back, returns `false`.
    package func begins(_ index: Int) -> Bool {
        self.state.withLock { state in
            guard !state.recalled.contains(index) else { return false }
            state.begun.insert(index)
            return true
        }
    }

    /// Returns whether a push is to be taken back, even if it was already started.
    package func isRecalled(_ index: Int) -> Bool { self.state.withLock { $0.recalled.contains(index) } }
}

/// The outcomes of the pushes of one call, with their transmissions.
package struct SentPushes: Sendable {
    package var outcomes: [Outcome]
    /// The transmissions of the pushes in the same order, or an empty array if they are not known.
    package var trips: [PushTrip] = []
    /// The connections of the call, to which ``trips`` refer by index.
    package var connections: [OpenedConnection] = []

    package init(outcomes: [Outcome], trips: [PushTrip] = [], connections: [OpenedConnection] = []) {
        (self.outcomes, self.trips, self.connections) = (outcomes, trips, connections)
    }
}
