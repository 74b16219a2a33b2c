import PushTypes
import Synchronization

/// A call of a sender, whose pushes can be taken back as long as no connection has them.
package protocol PushCall: AnyObject, Sendable {
    /// Takes pushes back. Those that no connection has end as ``Outcome/notSent(_:)``.
    /// - Parameter isRecalled: Returns `true` for the position of a push that is to be taken back.
    /// - Returns: The number of those pushes that are under way.
    func takeBack(where isRecalled: (Int) -> Bool) -> Int
}

extension Outcome.Failure {
    /// The failure of a push that was taken back before a connection had it.
    package static let takenBack = Self("it was taken back before it was sent")
}

/// A call of a sender whose pushes begin one by one. Each can be taken back until it begins.
package final class SteppedCall: PushCall {
    private struct State {
        var begun: Set<Int> = []
        var recalled: Set<Int> = []
    }

    private let count: Int
    /// Is called after pushes were taken back.
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

    /// Begins a push, unless it was taken back before. One that the push service discarded begins again.
    package func begins(_ index: Int) -> Bool {
        self.state.withLock { state in
            guard !state.recalled.contains(index) else { return false }
            state.begun.insert(index)
            return true
        }
    }

    /// Returns `true` for a push that is to be taken back, also for one that has begun.
    package func isRecalled(_ index: Int) -> Bool { self.state.withLock { $0.recalled.contains(index) } }
}
