import PushSupport
import PushTypes
import PushWire
import Synchronization

/// The clients of browsers' push services. Each app has its own client per origin, so that an unresponsive push service
/// delays no other app.
final class WebPushClientPool: Sendable {
    private struct Key: Hashable {
        var app: Int64
        var origin: WebOrigin
    }

    private struct State {
        var services: [Key: WebPushClient] = [:]
        var isClosed = false

        func hasRoom(for app: Int64, _ limits: WebPushLimits) -> Bool {
            self.services.count < limits.services
                && self.services.keys.count { $0.app == app } < limits.servicesOfApp
        }

        /// Removes unused clients if the limits allow no further client for an app: first those of available push
        /// services, then those of paused ones.
        /// - Returns: The clients to close.
        mutating func makeRoom(for app: Int64, _ limits: WebPushLimits, at now: Timestamp) -> [WebPushClient] {
            var retired: [WebPushClient] = []
            for isPausedToo in [false, true] where !self.hasRoom(for: app, limits) {
                let isFull = self.services.count >= limits.services
                for (key, service) in self.services where isFull || key.app == app {
                    guard service.isIdle, isPausedToo || !service.gate.isPaused(at: now) else { continue }
                    self.services[key] = nil
                    if service.retire() { retired.append(service) }
                }
            }
            return retired
        }
    }

    private let addresses: AddressPolicy
    private let resolver: any NameResolver
    private let limits: WebPushLimits
    private let time: any TimeSource
    private let state = Mutex(State())

    init(addresses: AddressPolicy, resolver: any NameResolver, limits: WebPushLimits, time: any TimeSource) {
        (self.addresses, self.resolver, self.limits, self.time) = (addresses, resolver, limits, time)
    }

    /// Calls `body` with the client for an origin, or with `nil` if the limits allow none or the pool is closed.
    /// - Parameter url: The URL of a message, whose host is resolved.
    func with<Value: Sendable>(
        _ origin: WebOrigin,
        app: Int64,
        url: String,
        _ body: (WebPushClient?) async -> Value
    ) async -> Value {
        let (service, retired) = self.take(Key(app: app, origin: origin), url: url)
        for old in retired { await old.close() }
        let value = await body(service)
        if let service, service.release() { await service.close() }
        return value
    }

    /// Returns the client for an origin, retained for one use (`nil` if none is allowed), and the clients to close.
    private func take(_ key: Key, url: String) -> (WebPushClient?, retired: [WebPushClient]) {
        let now = self.time.steady
        return self.state.withLock { state in
            guard !state.isClosed else { return (nil, []) }
            var gate: PushServiceGate?
            var retired: [WebPushClient] = []
            if let known = state.services[key] {
                guard now >= known.expiresAt else {
                    known.retain()
                    return (known, [])
                }
                // The gate is kept, so that a pause survives a new look-up of the name.
                gate = known.gate
                state.services[key] = nil
                if known.retire() { retired.append(known) }
            }
            retired += state.makeRoom(for: key.app, self.limits, at: now)
            guard state.hasRoom(for: key.app, self.limits) else { return (nil, retired) }
            let service = WebPushClient(
                url: url,
                app: key.app,
                addresses: self.addresses,
                resolver: self.resolver,
                deadline: self.limits.deadline,
                gate: gate ?? PushServiceGate(inFlight: self.limits.inFlight),
                expiresAt: now.advanced(by: self.limits.addressLifetime)
            )
            service.retain()
            state.services[key] = service
            return (service, retired)
        }
    }

    /// Closes all unused clients immediately, and the others after their last message.
    func close() async {
        let retired = self.state.withLock { state in
            defer { (state.services, state.isClosed) = ([:], true) }
            return state.services.values.filter { $0.retire() }
        }
        for service in retired { await service.close() }
    }
}

/// The state of one app's use of a push service that outlives its connections: the messages in flight and the pauses.
final class PushServiceGate: Sendable {
    private let turns: CountingSemaphore
    private let machine = Mutex(PushServiceStateMachine())

    init(inFlight: Int) { self.turns = CountingSemaphore(count: max(1, inFlight)) }

    /// Runs `body` as soon as fewer messages than the maximum are in flight.
    func inTurn<Value>(_ body: () async -> Value) async -> Value { await self.turns.run(body) }

    func admit(at now: Timestamp) -> PushServiceStateMachine.Admission { self.machine.withLock { $0.admit(at: now) } }

    func ended(_ end: PushServiceStateMachine.End, at now: Timestamp) {
        self.machine.withLock { $0.ended(end, at: now) }
    }

    func isPaused(at now: Timestamp) -> Bool { self.machine.withLock { $0.isPaused(at: now) } }
}

final class WebPushClient: Sendable {
    private struct State {
        var users = 0
        var isRetired = false
        var client: Task<Result<PinnedClient, PinnedClientFailure>, Never>?
    }

    let expiresAt: Timestamp
    let gate: PushServiceGate
    private let state = Mutex(State())
    private let connect: @Sendable () async -> Result<PinnedClient, PinnedClientFailure>

    init(
        url: String,
        app: Int64,
        addresses: AddressPolicy,
        resolver: any NameResolver,
        deadline: Duration,
        gate: PushServiceGate,
        expiresAt: Timestamp
    ) {
        (self.expiresAt, self.gate) = (expiresAt, gate)
        self.connect = {
            do throws(PinnedClientFailure) {
                return .success(
                    try await PinnedClient(
                        url,
                        app: app,
                        givenBy: .strangers,
                        addresses,
                        resolver,
                        speaksHTTP2: true,
                        deadline: deadline
                    )
                )
            } catch {
                return .failure(error)
            }
        }
    }

    /// The HTTP client. Its host is resolved on first use, and again after a failure.
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

    /// Closes the connections. The client must not be used any more.
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

    /// Releases one use of the client.
    /// - Returns: `true` if the client has to be closed, and `false` otherwise.
    func release() -> Bool {
        self.state.withLock { state in
            state.users -= 1
            return state.isRetired && state.users == 0
        }
    }

    /// Marks the client as not to be used again.
    /// - Returns: `true` if the client is unused and has to be closed immediately, and `false` otherwise.
    func retire() -> Bool {
        self.state.withLock { state in
            state.isRetired = true
            return state.users == 0
        }
    }
}
