import Foundation

/// A client of the provider in an app, which registers the installation, attaches its user and reports receipts.
///
/// Create one per process and keep it. Each change is stored immediately and sent as soon as possible, so that no call
/// has to be repeated after a failure or a restart. An app and its notification service extension share the storage.
public actor Martlet {
    /// The name of the registration's state in the storage. Only the app writes it.
    private static let stateName = "state"
    /// The maximum number of requests in one synchronization, after which it ends. Normally, fewer suffice, because
    /// each refusal removes a member from the requests.
    private static let maximumRequests = 250

    nonisolated let configuration: Configuration
    nonisolated let storage: any MartletStorage
    nonisolated let transport: any MartletTransport
    let handler: (any NotificationHandler)?
    let report: @Sendable (Event) -> Void
    let dependencies: Dependencies
    let environment: PushEnvironment

    /// The state machine of the registration, or `nil` before the storage could be read.
    private var machine: RegistrationStateMachine?
    /// The changes to apply to ``machine`` once the storage can be read.
    private var changes: [(inout RegistrationStateMachine) -> Void] = []
    var outbox = ReceiptOutbox()
    /// The receipts that the storage did not accept, which wait in memory. If there are ``ReceiptOutbox/maximum`` of
    /// them, further ones are lost.
    var unstored: [Receipt] = []
    /// A Boolean value that indicates whether the stored back-off equals that of the outbox.
    var isBackOffStored = true
    private var isSending = false
    private var isDue = false
    /// The calls of ``synchronize(within:)`` that wait until sending has finished, by their ids.
    private var waiters: [UUID: CheckedContinuation<Void, Never>] = [:]
    private var retry: Task<Void, Never>?

    /// Creates a client of the provider.
    /// - Parameters:
    ///   - configuration: The settings, with the provider and the app.
    ///   - storage: The persistent storage, which the app shares with its extension.
    ///   - transport: The transport of requests, by default `URLSession`.
    ///   - handler: The app's reactions to notifications, or `nil` for the default ones.
    ///   - report: A closure that receives each event, for example to log it.
    public init(
        _ configuration: Configuration,
        storage: any MartletStorage,
        transport: any MartletTransport = URLSessionTransport(),
        handler: (any NotificationHandler)? = nil,
        report: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        self.init(configuration, storage, transport, handler, report, dependencies: Dependencies())
    }

    init(
        _ configuration: Configuration,
        _ storage: any MartletStorage,
        _ transport: any MartletTransport,
        _ handler: (any NotificationHandler)?,
        _ report: @escaping @Sendable (Event) -> Void,
        dependencies: Dependencies
    ) {
        (self.configuration, self.storage, self.transport) = (configuration, storage, transport)
        (self.handler, self.report, self.dependencies) = (handler, report, dependencies)
        self.environment = configuration.environment ?? PushEnvironment.detected() ?? .production
    }

    deinit { self.retry?.cancel() }

    /// Sends everything that can be sent now, and returns when that is done.
    ///
    /// Every change and the end of every back-off also start a synchronization. Call this method where the system gives
    /// the app time, such as in a background task. If the task is cancelled, the call returns immediately, but a
    /// request in flight continues.
    /// - Parameter limit: The maximum time to wait, or `nil` for no limit.
    public func synchronize(within limit: Duration? = nil) async {
        self.isDue = true
        if !self.isSending {
            self.isSending = true
            Task { await self.run() }
        }
        await self.waitForSending(within: limit)
    }

    /// Returns the state of the installation, or `nil` while the storage cannot be read.
    public func status() -> Status? {
        self.loadOutbox()
        return self.state().map { machine in
            Status(
                installation: machine.state.installation,
                isConfirmed: machine.isConfirmed(now: self.dependencies.now()),
                preferences: NotificationPreferences(machine.state.wanted["preferences"]),
                receiptPrivacy: machine.state.receiptPrivacy,
                waitingReceipts: self.outbox.waiting.count
            )
        }
    }
}

// MARK: - The state

extension Martlet {
    /// Returns the state of the registration, or `nil` while the storage cannot be read.
    func state() -> RegistrationStateMachine? {
        // The extension reads the state again, because the app may have changed it.
        if let machine, self.configuration.role == .app { return machine }
        let target = "\(self.configuration.provider.absoluteString) \(self.configuration.app)"
        let stored: RegistrationState?
        do {
            stored = try self.storedState()
        } catch {
            self.report(.storageFailed(reason: "\(error)"))
            return nil
        }
        let state =
            stored
            ?? RegistrationState(installation: self.dependencies.uuid(), target: target, key: self.configuration.key)
        var machine = RegistrationStateMachine(
            state,
            target: target,
            key: self.configuration.key,
            refreshInterval: self.configuration.refreshInterval
        )
        guard self.configuration.role == .app else { return machine }
        for change in self.changes { change(&machine) }
        self.changes = []
        self.machine = machine
        self.save(machine)
        // The receipts of another provider's notifications mean nothing to this one.
        if let stored, stored.target != target { self.removeReceipts() }
        return machine
    }

    /// Reads the stored state. Returns `nil` if there is none.
    /// - Throws: An error of the storage.
    private func storedState() throws -> RegistrationState? {
        guard let data = try self.storage.read(Self.stateName) else { return nil }
        if let state = try? JSONDecoder().decode(RegistrationState.self, from: data) { return state }
        let lost = "the state is damaged: this is a new installation, and receipts are off until the app allows them"
        self.report(.storageFailed(reason: lost))
        var state = RegistrationState(installation: self.dependencies.uuid(), target: "", key: self.configuration.key)
        // The user's consent is lost with the state.
        state.receiptPrivacy = .none
        return state
    }

    private func store(_ machine: RegistrationStateMachine) {
        guard machine != self.machine else { return }
        self.machine = machine
        self.save(machine)
    }

    private func save(_ machine: RegistrationStateMachine) {
        do {
            try self.storage.write(JSONEncoder().encode(machine.state), for: Self.stateName)
        } catch {
            self.report(.storageFailed(reason: "\(error)"))
        }
    }

    /// Changes the registration for a call of the app, stores it and sends the change.
    /// - Throws: ``UsageError/serviceExtension`` in a service extension.
    func update(_ change: @escaping (inout RegistrationStateMachine) -> Void) throws(UsageError) {
        guard self.configuration.role == .app else { throw .serviceExtension }
        self.change(change)
    }

    /// Changes the registration, stores it and sends the change. If the storage cannot be read, the change is made
    /// later.
    func change(_ change: @escaping (inout RegistrationStateMachine) -> Void) {
        guard var machine = self.state() else { return self.changes.append(change) }
        change(&machine)
        self.store(machine)
        Task { await self.synchronize() }
    }
}

// MARK: - Sending

extension Martlet {
    /// Waits until sending has finished, the time limit, if there is one, has passed, or the task is cancelled.
    private func waitForSending(within limit: Duration?) async {
        let (id, wait) = (UUID(), self.dependencies.wait)
        let timer = limit.map { limit in
            Task { [weak self] in
                guard (try? await wait(limit)) != nil else { return }
                await self?.resume(id)
            }
        }
        defer { timer?.cancel() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard self.isSending, !Task.isCancelled else { return continuation.resume() }
                self.waiters[id] = continuation
            }
        } onCancel: {
            Task { await self.resume(id) }
        }
    }

    private func resume(_ id: UUID) { self.waiters.removeValue(forKey: id)?.resume() }

    private func run() async {
        while self.isDue {
            self.isDue = false
            await self.sendRegistration()
            await self.sendReceipts()
        }
        self.isSending = false
        self.scheduleRetry()
        let waiters = self.waiters.values
        self.waiters = [:]
        for waiter in waiters { waiter.resume() }
    }

    private func sendRegistration() async {
        guard self.configuration.role == .app else { return }
        for _ in 0..<Self.maximumRequests {
            guard var machine = self.state(), case .send(let request) = machine.next(now: self.dependencies.now())
            else {
                return
            }
            machine.started(request)
            self.store(machine)
            let installation = machine.state.installation
            let response = await self.exchange(self.configuration.request(request, installation: installation))
            // The app may have changed the state meanwhile.
            guard var machine = self.state() else { return }
            let events = machine.completed(
                request,
                response,
                now: self.dependencies.now(),
                random: self.dependencies.random(),
                newInstallation: self.dependencies.uuid()
            )
            self.store(machine)
            for event in events { self.report(event) }
        }
    }

    private func sendReceipts() async {
        self.loadOutbox()
        for _ in 0..<Self.maximumRequests {
            guard let state = self.state()?.state, let secret = state.secret, !state.isLeaving else { return }
            self.apply(self.outbox.prune(privacy: state.receiptPrivacy, now: self.dependencies.now()))
            let next = self.outbox.next(privacy: state.receiptPrivacy, now: self.dependencies.now())
            guard case .send(let batch) = next else { return }
            let request = self.configuration.request(batch, installation: state.installation, secret: secret)
            let response = await self.exchange(request)
            let (now, random) = (self.dependencies.now(), self.dependencies.random())
            self.apply(self.outbox.completed(batch, response, now: now, random: random))
            self.storeBackOff()
            if case .refused(let refusal) = response, refusal.code == ProviderRefusal.notOwnInstallation,
                self.configuration.role == .app
            {
                self.change { $0.secretWasRefused() }
            }
        }
    }

    func exchange(_ request: TransportRequest) async -> ProviderResult { ProviderResult(await self.send(request)) }

    func send(_ request: TransportRequest) async -> Result<TransportResponse, any Error> {
        var request = request
        // The user waits for the content that the extension returns.
        if self.configuration.role == .serviceExtension { request.deadline = .seconds(5) }
        do {
            return .success(try await self.transport.send(request))
        } catch {
            return .failure(error)
        }
    }

    private func scheduleRetry() {
        self.retry?.cancel()
        self.retry = nil
        guard self.configuration.role == .app, let machine = self.machine else { return }
        let now = self.dependencies.now()
        var times: [Date] = []
        if case .wait(let until) = machine.next(now: now) { times.append(until) }
        if machine.state.secret != nil, !machine.state.isLeaving,
            case .wait(let until) = self.outbox.next(privacy: machine.state.receiptPrivacy, now: now)
        {
            times.append(until)
        }
        guard let until = times.min() else { return }
        let sleep = self.dependencies.sleep
        self.retry = Task { [weak self] in
            do {
                try await sleep(.milliseconds(Int64(max(0, until.timeIntervalSince(now)) * 1000) + 1))
            } catch {
                return
            }
            await self?.synchronize()
        }
    }
}
