import Logging
import PushSender
import PushStore
import PushTypes
import Synchronization

/// The provider token of one key, as the store has it.
///
/// It is read and renewed between pages, where waiting is allowed. Only if the store is of no help until the token may not
/// be used any more, a new one is signed here alone; the store gets that one as soon as it can be written.
final class StoredProviderToken: ProviderTokenSource {
    private struct State {
        var current: ProviderTokenRecord?
        /// The current one is in the store.
        var isStored = false
        /// The store is being asked.
        var asking: Task<Void, Never>?
        /// When the token in use was issued that the push service called expired.
        var refused: Timestamp?
    }

    private let key: ProviderKey
    private let id: ProviderTokenKey
    private let store: any ProviderTokenStore
    private let logger: Logger
    private let state = Mutex(State())

    init(_ key: ProviderKey, id: ProviderTokenKey, store: any ProviderTokenStore, logger: Logger) {
        var key = key
        // Else it would hold itself.
        key.tokens = nil
        self.key = key
        self.id = id
        self.store = store
        self.logger = logger
    }

    func text(now: Timestamp) throws -> String {
        try self.state.withLock { state in
            if let current = state.current, current.isUsable(at: now) { return current.text }
            let alone = try self.sign(now)
            (state.current, state.isStored, state.refused) = (alone, false, nil)
            return alone.text
        }
    }

    func expired(_ text: String, now: Timestamp) {
        let isNew = self.state.withLock { state in
            guard let current = state.current, current.text == text, state.refused == nil,
                !current.forbidsAnother(at: now)
            else { return false }
            state.refused = current.issuedAt
            return true
        }
        // What is refused now shall not wait for the next page.
        if isNew { Task { await self.prepare(now: now) } }
    }

    /// Asks the store if there is no token yet, if the one there is is due, or if the store does not have it.
    func prepare(now: Timestamp) async {
        let asking = self.state.withLock { state -> Task<Void, Never>? in
            if let current = state.current {
                let isNeeded = !state.isStored || state.refused != nil || current.isDue(at: now)
                guard isNeeded else { return nil }
                // Nobody waits for another while there is one to be used.
                if state.asking != nil, current.isUsable(at: now) { return nil }
            }
            if let asking = state.asking { return asking }
            let asking = Task { await self.ask(now: now) }
            state.asking = asking
            return asking
        }
        await asking?.value
    }

    private func ask(now: Timestamp) async {
        let (current, isStored, refused) = self.state.withLock { ($0.current, $0.isStored, $0.refused) }
        do {
            // One that the store does not have yet is offered as it is, unless it is of no use any more.
            let isOffered = !isStored && refused == nil && current?.isDue(at: now) == false
            let offered = try isOffered ? current ?? self.sign(now) : self.sign(now)
            let stored = try await self.store.providerToken(offering: offered, refused: refused, now: now)
            self.state.withLock { state in
                state.current = stored
                (state.isStored, state.asking) = (true, nil)
                // Another may have been refused meanwhile.
                if state.refused == refused { state.refused = nil }
            }
        } catch {
            self.state.withLock { $0.asking = nil }
            self.logger.error(
                "the provider token cannot be kept, trying again",
                metadata: ["key": "\(self.id.keyID)", "error": "\(error)"]
            )
        }
    }

    private func sign(_ now: Timestamp) throws -> ProviderTokenRecord {
        ProviderTokenRecord(
            key: self.id,
            text: try ProviderTokenSigner.sign(key: self.key, issuedAt: now),
            issuedAt: now
        )
    }
}
