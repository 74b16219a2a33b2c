import PushSupport
import PushTypes
import PushWire
import Synchronization

/// The connections to browsers' push services: one client for each app and origin, so that a push service which does not
/// answer holds up nothing of other apps.
final class PushServicePool: Sendable {
    private struct Key: Hashable {
        var app: Int64
        var origin: WebOrigin
    }

    private struct State {
        var services: [Key: PushService] = [:]
        var isClosed = false
    }

    private let addresses: AddressPolicy
    private let resolver: any NameResolver
    private let limits: WebPushLimits
    private let time: any TimeSource
    private let state = Mutex(State())

    init(addresses: AddressPolicy, resolver: any NameResolver, limits: WebPushLimits, time: any TimeSource) {
        (self.addresses, self.resolver, self.limits, self.time) = (addresses, resolver, limits, time)
    }

    /// Calls `body` with the push service of an origin; with `nil` if there are too many, or the pool is closed.
    /// - Parameter url: The URL of a message, for the name that is resolved.
    func with<Value: Sendable>(
        _ origin: WebOrigin,
        app: Int64,
        url: String,
        _ body: (PushService?) async -> Value
    ) async -> Value {
        let (service, retired) = self.take(Key(app: app, origin: origin), url: url)
        for old in retired { await old.close() }
        let value = await body(service)
        if let service, service.release() { await service.close() }
        return value
    }

    /// Returns the push service for a use, and those that nothing uses any more.
    private func take(_ key: Key, url: String) -> (PushService?, retired: [PushService]) {
        let now = self.time.steady
        return self.state.withLock { state in
            guard !state.isClosed else { return (nil, []) }
            if let known = state.services[key], now < known.expiresAt {
                known.retain()
                return (known, [])
            }
            var retired: [PushService] = []
            if let old = state.services.removeValue(forKey: key), old.retire() { retired.append(old) }
            if state.services.count >= self.limits.services {
                // What nobody uses gives way, and what has expired.
                for (other, service) in state.services where service.isIdle {
                    state.services[other] = nil
                    if service.retire() { retired.append(service) }
                }
                guard state.services.count < self.limits.services else { return (nil, retired) }
            }
            let service = PushService(
                url: url,
                app: key.app,
                addresses: self.addresses,
                resolver: self.resolver,
                limits: self.limits,
                expiresAt: now.advanced(by: self.limits.addressLifetime)
            )
            service.retain()
            state.services[key] = service
            return (service, retired)
        }
    }

    /// Closes all connections that nothing uses, and the others after their last message.
    func close() async {
        let retired = self.state.withLock { state in
            defer { (state.services, state.isClosed) = ([:], true) }
            return state.services.values.filter { $0.retire() }
        }
        for service in retired { await service.close() }
    }
}

/// A push service as one app uses it.
final class PushService: Sendable {
    private struct State {
        var machine = PushServiceStateMachine()
        var users = 0
        var isRetired = false
        var client: Task<Result<PinnedClient, PinnedClientFailure>, Never>?
    }

    let expiresAt: Timestamp
    private let turns: CountingSemaphore
    private let state = Mutex(State())
    private let connect: @Sendable () async -> Result<PinnedClient, PinnedClientFailure>

    init(
        url: String,
        app: Int64,
        addresses: AddressPolicy,
        resolver: any NameResolver,
        limits: WebPushLimits,
        expiresAt: Timestamp
    ) {
        self.expiresAt = expiresAt
        self.turns = CountingSemaphore(count: max(1, limits.inFlight))
        self.connect = {
            do throws(PinnedClientFailure) {
                return .success(
                    try await PinnedClient(
                        url,
                        app: app,
                        addresses,
                        resolver,
                        speaksHTTP2: true,
                        deadline: limits.deadline
                    )
                )
            } catch {
                return .failure(error)
            }
        }
    }

    /// Runs `body` when fewer messages than the limit are in flight.
    func inTurn<Value>(_ body: () async -> Value) async -> Value { await self.turns.run(body) }

    /// The client; its name is resolved with the first use, and again after a failure.
    var client: Result<PinnedClient, PinnedClientFailure> {
        get async {
            let task = self.state.withLock { state in
                if let client = state.client { return client }
                let task = Task { await self.connect() }
                state.client = task
                return task
            }
            let result = await task.value
            if case .failure = result {
                self.state.withLock { if $0.client == task { $0.client = nil } }
            }
            return result
        }
    }

    func admit(at now: Timestamp) -> PushServiceStateMachine.Admission {
        self.state.withLock { $0.machine.admit(at: now) }
    }

    func ended(_ end: PushServiceStateMachine.End, at now: Timestamp) {
        self.state.withLock { $0.machine.ended(end, at: now) }
    }

    /// Closes the connections. Nothing may use it any more.
    func close() async {
        let task = self.state.withLock { state in
            defer { state.client = nil }
            return state.client
        }
        if case .success(let client)? = await task?.value { await client.close() }
    }

    // MARK: Uses

    var isIdle: Bool { self.state.withLock { $0.users == 0 } }

    func retain() { self.state.withLock { $0.users += 1 } }

    /// Ends a use.
    /// - Returns: `true` if it is to be closed.
    func release() -> Bool {
        self.state.withLock { state in
            state.users -= 1
            return state.isRetired && state.users == 0
        }
    }

    /// Notes that no use begins any more.
    /// - Returns: `true` if it is to be closed at once.
    func retire() -> Bool {
        self.state.withLock { state in
            state.isRetired = true
            return state.users == 0
        }
    }
}
