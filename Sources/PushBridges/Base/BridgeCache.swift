import ProviderModel
import PushStore
import PushSupport
import PushTypes
import Synchronization

/// A value that is computed from the bridges of one kind and cached, so that requests do not read bridges from disk. It
/// is computed again after any bridge has changed.
///
/// Only one read of the store runs at a time, and all callers share it. Frequent changes of bridges therefore occupy at
/// most one connection of the store, and no caller waits for more than two reads.
final class BridgeCache<Value: Sendable>: Sendable {
    private struct Made {
        var generation: Int
        var madeAt: Timestamp
        var value: Value
    }

    private struct Flight {
        /// The number of bridge changes (``BridgeStore/bridgeGeneration``) before the read began. The read sees all of
        /// them.
        let generation: Int
        let value = OneShotValue<Value>()
    }

    private struct State {
        var made: Made?
        var flight: Flight?
    }

    private let store: any AppStore & BridgeStore
    /// The maximum age of the value, and the clock that measures it, or `nil` if the value does not expire.
    private let aging: (longest: Duration, time: any TimeSource)?
    private let make: @Sendable (any AppStore & BridgeStore) async throws -> Value
    private let state = Mutex(State())

    /// Creates an empty cache. The first use of ``value`` reads the store.
    /// - Parameters:
    ///   - aging: The maximum age of a value that depends on more than bridges, and the clock that measures it. `nil`
    ///     if the value does not expire.
    ///   - make: Reads the store and computes the value.
    init(
        store: any AppStore & BridgeStore,
        aging: (longest: Duration, time: any TimeSource)? = nil,
        make: @escaping @Sendable (any AppStore & BridgeStore) async throws -> Value
    ) {
        (self.store, self.aging, self.make) = (store, aging, make)
    }

    /// The value for the current bridges, which is read from the store unless it is cached.
    /// - Throws: An error of the store if bridges have changed and cannot be read, or `CancellationError`. A value that
    ///   has only expired is returned if it cannot be renewed.
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

    /// Reads the store again, even if the cached value is current, and returns the new value.
    func read() async throws -> Value { try await self.read(since: self.store.bridgeGeneration) }

    private func made(since generation: Int) -> Made? {
        self.state.withLock { $0.made }.flatMap { $0.generation >= generation ? $0 : nil }
    }

    /// Returns the value of a read that sees all changes of bridges up to `generation`.
    private func read(since generation: Int) async throws -> Value {
        var flight = self.join()
        while flight.generation < generation {
            // This read may not have seen the change, and its error belongs to other callers.
            _ = try? await flight.value.valueUnlessCancelled()
            try Task.checkCancellation()
            if let made = self.made(since: generation) { return made.value }
            flight = self.join()
        }
        return try await flight.value.valueUnlessCancelled()
    }

    /// Returns the read in progress, or begins one. It continues even if its callers stop waiting.
    private func join() -> Flight {
        self.state.withLock { state in
            if let flight = state.flight { return flight }
            // A later change belongs to the next generation, even if this read already sees it.
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
    convenience init(_ kind: BridgeKind, store: any AppStore & BridgeStore) {
        self.init(store: store) { store in
            Dictionary(try await store.bridges(kind: kind).map { ($0.name, $0) }) { first, _ in first }
        }
    }

    /// The bridge with the given name, or `nil` if there is none.
    subscript(name: String) -> BridgeRecord? { get async throws { try await self.value[name] } }
}

/// A cache of the bridges of one kind, by name.
typealias BridgeTable = BridgeCache<[String: BridgeRecord]>
