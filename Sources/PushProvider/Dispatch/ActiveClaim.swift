import Foundation
import ProviderModel
import PushSender
import PushStore
import PushSupport
import Synchronization

/// The in-memory state of a claim (work taken from the store) of this process: the stops that apply to it, such as a
/// cancellation or an opt-out, and its pushes in flight.
///
/// A stop is applied here (docs/decisions/0051): pushes that were not handed to a sender are not sent, and those that
/// wait for a connection are taken back. The state lives from the claim until the results of its last page are on disk.
final class ActiveClaim: Sendable {
    fileprivate struct State {
        var stops: [StopScope] = []
        /// The devices whose registrations have changed, in one set because many may change while a page waits.
        var devices: Set<Int64> = []
        /// The pushes that were handed to senders, and whose results are not on disk yet.
        var batches: [PageDraft.PushBatch] = []
        var calls: [(batch: Int, call: any PushCall)] = []
        /// The recipients of pushes in ``batches`` to which a stop applies.
        var recalled: Set<Int64> = []
        var landings: [AsyncStream<Void>.Continuation] = []
    }

    let notification: UUID
    let app: Int64
    private let isWeb: Bool
    /// A Boolean value that indicates whether there was a stop since the claim was made or examined again.
    private let isStopped = Atomic(false)
    private let state = Mutex(State())

    init(_ notification: NotificationRecord) {
        (self.notification, self.app, self.isWeb) = (notification.id, notification.app, notification.content.isWeb)
    }

    // MARK: Stops

    func mayBeConcerned(by stop: StopScope) -> Bool {
        stop.mayConcern(self.notification, app: self.app, isWeb: self.isWeb)
    }

    /// Applies a stop to the claim.
    /// - Returns: The number of pushes in flight to which the stop applies. They were not taken back, and their results
    ///   are not on disk.
    func apply(_ stop: StopScope) -> Int {
        guard self.mayBeConcerned(by: stop) else { return 0 }
        return self.state.withLock { state in
            if case .devices(let devices, _) = stop {
                state.devices.formUnion(devices)
            } else {
                state.stops.append(stop)
            }
            self.isStopped.store(true, ordering: .releasing)
            return state.recall { stop.concerns($0) }
        }
    }

    /// A stream that finishes when the results of all the claim's pushes in flight, if any, are on disk.
    var landing: AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        let isOver = self.state.withLock { state in
            if !state.batches.isEmpty { state.landings.append(continuation) }
            return state.batches.isEmpty
        }
        if isOver { continuation.finish() }
        return stream
    }

    // MARK: The work on the claim

    /// Forgets the stops. The store must then decide again whether the claim may be sent.
    /// - Returns: `true` if there were stops, and `false` if there were none.
    func examineAgain() -> Bool {
        guard self.isStopped.load(ordering: .acquiring) else { return false }
        return self.state.withLock { state in
            defer { (state.stops, state.devices) = ([], []) }
            self.isStopped.store(false, ordering: .releasing)
            return !state.stops.isEmpty || !state.devices.isEmpty
        }
    }

    /// Forgets the stops that the next page takes into account because it is read from the store after them.
    /// - Returns: `true` if other stops remain, so that the claim has to be released, and `false` otherwise.
    func readAgain() -> Bool {
        guard self.isStopped.load(ordering: .acquiring) else { return false }
        return self.state.withLock { state in
            state.devices = []
            state.stops.removeAll { !$0.outlastsReading }
            return !state.stops.isEmpty
        }
    }

    /// Removes the pushes to which a stop applies from `draft`, and records the other pushes before senders get them.
    /// - Returns: The recipients of the removed pushes.
    func takeOff(_ draft: inout PageDraft) -> [Recipient] {
        self.state.withLock { state in
            var stopped: [Recipient] = []
            if !state.stops.isEmpty || !state.devices.isEmpty {
                stopped = draft.batches.flatMap(\.recipients).filter { recipient in
                    recipient.device.map(state.devices.contains) ?? false
                        || state.stops.contains { $0.concerns(recipient) }
                }
                draft.keep(Set(draft.recipients.map(\.id)).subtracting(stopped.map(\.id)))
            }
            (state.batches, state.calls, state.recalled) = (draft.batches, [], [])
            return stopped
        }
    }

    /// Records that the batch at an index was handed to its sender, and takes back pushes that were recalled meanwhile.
    func began(_ batch: Int, _ call: any PushCall) {
        self.state.withLock { state in
            state.calls.append((batch, call))
            guard !state.recalled.isEmpty else { return }
            let recalled = state.recalled
            _ = state.recall { recalled.contains($0.id) }
        }
    }

    /// The ids of the page's recipients to which a stop applies, whether or not their pushes could be taken back.
    var recalled: Set<Int64> { self.isStopped.load(ordering: .acquiring) ? self.state.withLock { $0.recalled } : [] }

    /// Records that the results of the page are on disk, which finishes the streams of ``landing``.
    func landed() {
        let landings = self.state.withLock { state in
            defer { (state.batches, state.calls, state.landings) = ([], [], []) }
            return state.landings
        }
        for landing in landings { landing.finish() }
    }
}

extension ActiveClaim.State {
    /// Takes back the pushes to the recipients for which `isConcerned` returns `true`.
    /// - Returns: The number of pushes that could not be taken back.
    fileprivate mutating func recall(_ isConcerned: (Recipient) -> Bool) -> Int {
        var underWay = 0
        for (index, batch) in self.batches.enumerated() {
            let concerned = Set(batch.recipients.indices.filter { isConcerned(batch.recipients[$0]) })
            guard !concerned.isEmpty else { continue }
            self.recalled.formUnion(concerned.map { batch.recipients[$0].id })
            // A push that is being handed over counts as under way, although it may still be taken back.
            let call = self.calls.first { $0.batch == index }?.call
            underWay += call?.takeBack { concerned.contains($0) } ?? concerned.count
        }
        return underWay
    }
}

/// A claim with its in-memory state: the stops that apply to it, and its pushes in flight.
@dynamicMemberLookup struct TrackedClaim<Claim: Sendable>: Sendable {
    var claim: Claim
    let memory: ActiveClaim

    subscript<Value>(dynamicMember member: WritableKeyPath<Claim, Value>) -> Value {
        get { self.claim[keyPath: member] }
        set { self.claim[keyPath: member] = newValue }
    }
}

/// The pushes that a stop found in flight.
package struct PushesInFlight: Sendable {
    /// The number of pushes that were on their way to the push service and could not be taken back.
    package fileprivate(set) var count = 0
    private var claims: [ActiveClaim] = []

    init() {}

    mutating func apply(_ stop: StopScope, to claim: ActiveClaim) {
        let count = claim.apply(stop)
        guard count > 0 else { return }
        self.count += count
        self.claims.append(claim)
    }

    /// Waits until the results of these pushes are on disk.
    /// - Returns: `true` once they are, and `false` if some were not on disk within `limit`.
    package func settle(within limit: Duration) async -> Bool {
        guard !self.claims.isEmpty else { return true }
        let isSettled = try? await withTimeLimit(limit) {
            for claim in self.claims { for await _ in claim.landing {} }
            return !Task.isCancelled
        }
        return isSettled ?? false
    }
}
