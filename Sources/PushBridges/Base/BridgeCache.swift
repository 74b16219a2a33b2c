import PushStore
import PushSupport
import PushTypes
import Synchronization

/// The values made of the bridges of one kind, in memory, so that a request reads none of them from disk. They are made anew once
/// any bridge has changed.
///
/// There is one reading at a time, which all requests share. So bridges that change all the time, whoever changes them, keep one of
/// the store's connections busy at most, and no request waits for more than two readings.
final class BridgeCache<Value: Sendable>: Sendable {
    private struct Made {
        var generation: Int
        var madeAt: Timestamp
        var value: Value
    }

    /// A reading under way.
    private struct Flight {
        /// The generation of bridges before it began: it sees all changes up to that one.
        let generation: Int
        let value = OneShotValue<Value>()
    }

    private struct State {
        var made: Made?
        var flight: Flight?
    }

    private let store: any AppStore & BridgeStore
    /// The age at which it is made anew in any case, and the clock that tells it; `nil` for none.
    private let aging: (longest: Duration, time: any TimeSource)?
    private let make: @Sendable (any AppStore & BridgeStore) async throws -> Value
    private let state = Mutex(State())

    /// - Parameters:
    ///   - aging: The age at which it is made anew in any case, for what depends on more than bridges; `nil` for none.
    ///   - make: Reads what it is made of.
    init(
        store: any AppStore & BridgeStore,
        aging: (longest: Duration, time: any TimeSource)? = nil,
        make: @escaping @Sendable (any AppStore & BridgeStore) async throws -> Value
    ) {
        (self.store, self.aging, self.make) = (store, aging, make)
    }

    /// The value for the bridges as they are now.
    /// - Throws: An error of the store, if bridges have changed and cannot be read. A cancelled task waits no longer.
    var value: Value {
        get async throws {
            let wanted = self.store.bridgeGeneration
            guard let known = self.made(since: wanted) else { return try await self.read(since: wanted) }
            guard let (longest, time) = self.aging, time.steady.since(known.madeAt) >= longest else {
                return known.value
            }
            return (try? await self.read(since: wanted)) ?? known.value
        }
    }

    /// Makes it anew, or waits for the reading under way.
    func read() async throws -> Value { try await self.read(since: self.store.bridgeGeneration) }

    private func made(since generation: Int) -> Made? {
        self.state.withLock { $0.made }.flatMap { $0.generation >= generation ? $0 : nil }
    }

    /// Returns the value of a reading that sees all changes up to a generation.
    private func read(since generation: Int) async throws -> Value {
        var flight = self.join()
        while flight.generation < generation {
            // It may not have seen the change, and its failure is that of others.
            _ = try? await flight.value.valueUnlessCancelled()
            try Task.checkCancellation()
            if let made = self.made(since: generation) { return made.value }
            flight = self.join()
        }
        return try await flight.value.valueUnlessCancelled()
    }

    /// Joins the reading under way, or begins one. It continues without those who wait for it.
    private func join() -> Flight {
        self.state.withLock { state in
            if let flight = state.flight { return flight }
            // A change after this is in the next generation, even if it is read here already.
            let flight = Flight(generation: self.store.bridgeGeneration)
            state.flight = flight
            Task { await self.carryOut(flight) }
            return flight
        }
    }

    private func carryOut(_ flight: Flight) async {
        let now = self.aging?.time.steady ?? Timestamp(milliseconds: 0)
        let result: Result<Value, any Error>
        do {
            result = .success(try await self.make(self.store))
        } catch {
            result = .failure(error)
        }
        self.state.withLock { state in
            state.flight = nil
            guard case .success(let value) = result else { return }
            state.made = Made(generation: flight.generation, madeAt: now, value: value)
        }
        flight.value.resolve(result)
    }
}

extension BridgeCache<[String: BridgeRecord]> {
    /// The bridges of a kind by their names.
    convenience init(_ kind: BridgeKind, store: any AppStore & BridgeStore) {
        self.init(store: store) { store in
            Dictionary(try await store.bridges(kind: kind).map { ($0.name, $0) }) { first, _ in first }
        }
    }

    /// Returns the bridge with a name; `nil` if there is none.
    subscript(name: String) -> BridgeRecord? {
        get async throws { try await self.value[name] }
    }
}

/// The bridges of one kind by their names.
typealias BridgeTable = BridgeCache<[String: BridgeRecord]>
