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

/// A call of a sender that can only be cancelled as a whole.
final class CancellableCall: PushCall {
    private let count: Int
    private let task = Mutex<Task<SentPushes, Never>?>(nil)

    private init(count: Int) { self.count = count }

    /// Sends pushes in a task of their own, which `began` receives the means to cancel.
    static func follow(
        _ pushes: [Push],
        by sender: some NotificationSender,
        _ began: (any PushCall) -> Void
    ) async -> SentPushes {
        let call = CancellableCall(count: pushes.count)
        let task = Task { await sender.follow(pushes) }
        call.task.withLock { $0 = task }
        began(call)
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    func takeBack(where isRecalled: (Int) -> Bool) -> Int {
        let recalled = (0..<self.count).count(where: isRecalled)
        // The others of its pushes are not taken back for the sake of some.
        if recalled == self.count { self.task.withLock { $0 }?.cancel() }
        return recalled
    }
}

/// A call of a sender whose pushes begin one by one. Each can be taken back until it begins.
package final class SteppedCall: PushCall {
    private struct State {
        var begun: Set<Int> = []
        var recalled: Set<Int> = []
    }

    private let count: Int
    private let state = Mutex(State())

    package init(count: Int) { self.count = count }

    package func takeBack(where isRecalled: (Int) -> Bool) -> Int {
        let recalled = Set((0..<self.count).filter(isRecalled))
        return self.state.withLock { state in
            state.recalled.formUnion(recalled)
            return recalled.intersection(state.begun).count
        }
    }

    /// Begins a push, unless it was taken back before.
    package func begins(_ index: Int) -> Bool {
        self.state.withLock { state in
            guard state.begun.contains(index) || !state.recalled.contains(index) else { return false }
            state.begun.insert(index)
            return true
        }
    }
}
