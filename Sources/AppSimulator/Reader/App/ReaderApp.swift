import Foundation
package import MartletKit
package import PushSupport
package import PushTypes
import Synchronization

/// The publisher's app of one reader, which performs the actions of ``ReaderStateMachine``.
package actor ReaderApp {
    /// The progress of the current download, which the transport updates.
    private final class Progress: Sendable {
        private let time: any TimeSource
        private let state = Mutex<(bytes: Int64, since: ClockReading?)>((0, nil))

        init(_ time: any TimeSource) { self.time = time }

        /// The number of received bytes, and the time at which the first one arrived, or `nil` before that.
        var received: (bytes: Int64, since: ClockReading)? {
            self.state.withLock { state in state.since.map { (state.bytes, $0) } }
        }

        func note(_ bytes: Int64) { self.state.withLock { $0 = (bytes, $0.since ?? self.time.reading) } }
    }

    private let configuration: ReaderConfiguration
    private let newsstand: Newsstand
    private let storage: any ReaderStorage
    private let time: any TimeSource
    private let sleep: @Sendable (Duration) async throws -> Void
    private let report: @Sendable (ReaderEvent) -> Void

    private var machine: ReaderStateMachine
    /// The task of the last step that was started. It may still run after it was stopped.
    private var step: Task<Void, Never>?
    /// The number of steps and stops so far. It serves to recognize and ignore the result of a stopped step.
    private var steps = 0
    private var timer: Task<Void, any Error>?
    private var progress: (product: String, Progress)?
    private var hasEnded = false

    /// Creates the app with the state from `storage`.
    /// - Parameters:
    ///   - sleep: A closure that waits before a step is repeated, which tests replace.
    ///   - report: A closure that receives each event.
    /// - Throws: ``PhoneError`` for a storage that cannot be read.
    package init(
        _ configuration: ReaderConfiguration,
        storage: any ReaderStorage,
        time: any TimeSource = SystemTime(),
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
        report: @escaping @Sendable (ReaderEvent) -> Void
    ) throws {
        (self.configuration, self.storage, self.time) = (configuration, storage, time)
        (self.sleep, self.report) = (sleep, report)
        self.newsstand = Newsstand(configuration.app, transport: configuration.transport)
        let state = try storage.load() ?? ReaderState(deviceID: UUID())
        try storage.save(state)
        self.machine = ReaderStateMachine(state, rules: configuration.rules, network: configuration.network)
    }

    deinit {
        self.step?.cancel()
        self.timer?.cancel()
    }

    /// The reader's state, including the progress of the current download.
    package var state: ReaderState {
        self.noteProgress()
        return self.machine.state
    }

    // MARK: - What happens

    /// Launches the app, and resumes the work of the last run.
    package func launch() { self.perform(self.machine.launched()) }

    package func wake(_ push: IssuePush) { self.perform(self.machine.pushed(push, now: self.time.reading)) }

    /// Waits until no step is running, because the work has finished, or waits for a retry or for Wi-Fi.
    package func settle() async {
        while self.machine.hasStep, !self.hasEnded, let step = self.step { await step.value }
    }

    package func setNetwork(_ network: ReaderNetwork) {
        self.noteProgress()
        self.perform(self.machine.networkChanged(to: network))
    }

    /// Opens an issue for the user.
    /// - Returns: `true` if the issue was opened, and `false` if it is not downloaded.
    @discardableResult
    package func open(_ product: String) -> Bool {
        let actions = self.machine.opened(product)
        self.perform(actions)
        return !actions.isEmpty
    }

    /// Loads the catalogue into the library without starting a download.
    /// - Throws: ``NewsstandError`` if the provider cannot be reached or refuses the request.
    package func refresh() async throws {
        let catalogue = try await self.catalogue(ifChangedFrom: self.machine.state.entityTag)
        self.perform(self.machine.catalogueLoaded(catalogue, now: self.time.reading))
    }

    /// Loads the catalogue, up to the maximum number of issues in the library. Returns `nil` if it still has the entity
    /// tag `tag`.
    private func catalogue(ifChangedFrom tag: String?) async throws(NewsstandError) -> IssueCatalogue? {
        try await self.newsstand.issues(
            account: self.configuration.account,
            maximum: ReaderState.maximumIssues,
            ifChangedFrom: tag
        )
    }

    /// Registers the device with the publisher's form.
    /// - Throws: ``NewsstandError`` if the provider cannot be reached or refuses the form.
    package func register(token: [UInt8], capabilities: Capabilities) async throws {
        let id = self.machine.state.deviceID
        let request = self.configuration.registration(deviceID: id, token: token, capabilities: capabilities)
        try await Self.accepted(request, self.configuration.transport)
    }

    private static func accepted(_ request: TransportRequest, _ transport: any MartletTransport) async throws {
        let response: TransportResponse
        do {
            response = try await transport.send(request)
        } catch {
            throw NewsstandError.unavailable(reason: ErrorDescription.of(error), retryAfter: nil)
        }
        guard response.status != 200 else { return }
        let text = String(decoding: response.body.prefix(200), as: UTF8.self)
        if response.status >= 500 || [408, 425, 429].contains(response.status) {
            let delay = response.headers["retry-after"].flatMap { Int64($0) }.map {
                Duration.seconds(min(max(0, $0), 3600))
            }
            throw NewsstandError.unavailable(reason: "status \(response.status)", retryAfter: delay)
        }
        throw NewsstandError.refused(code: "status \(response.status)", message: text)
    }

    /// Stops the work in progress, which the next launch resumes. No step begins afterwards.
    package func end() async {
        self.hasEnded = true
        self.noteProgress()
        self.step?.cancel()
        self.timer?.cancel()
        self.steps += 1
        await self.step?.value
        self.save()
    }

    // MARK: - Actions

    private func perform(_ actions: [ReaderAction]) {
        // A push, or a timer that was cancelled too late, may arrive after the end.
        guard !self.hasEnded else { return self.save() }
        for action in actions {
            switch action {
            case .stop:
                self.step?.cancel()
                self.steps += 1
            case .save: self.save()
            case .report(let event): self.report(event)
            case .removePart(let file): self.storage.removePart(of: file)
            case .wake(let time): self.wake(at: time)
            case .loadCatalogue, .checkEntitlement, .loadCover, .requestGrant, .download: self.begin(action)
            }
        }
    }

    private func save() {
        do {
            try self.storage.save(self.machine.state)
        } catch {
            self.report(.problem("\(error)"))
        }
    }

    private func wake(at time: Timestamp) {
        self.timer?.cancel()
        let delay = max(.zero, time.since(self.time.steady))
        self.timer = Task { [weak self, sleep] in
            try await sleep(delay)
            await self?.timeReached()
        }
    }

    private func timeReached() { self.perform(self.machine.timeReached(self.time.steady)) }

    /// Begins a step once the previous one has finished, and passes its result to the state machine.
    private func begin(_ action: ReaderAction) {
        self.steps += 1
        let (number, before) = (self.steps, self.step)
        self.step = Task { [weak self] in
            await before?.value
            await self?.take(action, number: number)
        }
    }

    private func take(_ action: ReaderAction, number: Int) async {
        let change = await self.result(of: action)
        guard self.steps == number else { return }
        self.noteProgress()
        self.progress = nil
        self.perform(change(&self.machine, self.time.reading))
    }

    private func result(of action: ReaderAction) async -> (inout ReaderStateMachine, ClockReading) -> [ReaderAction] {
        var place: (step: ReaderWork.Step, product: String) = (.catalogue, self.machine.state.work?.product ?? "")
        do throws(NewsstandError) {
            switch action {
            case .loadCatalogue(let tag):
                let catalogue = try await self.catalogue(ifChangedFrom: tag)
                return { $0.catalogueLoaded(catalogue, now: $1) }
            case .checkEntitlement(let product):
                place = (.entitlement, product)
                let proof = self.configuration.proof
                guard let entitlement = try await self.newsstand.entitlements(to: [product], proof: proof).first else {
                    throw NewsstandError.malformed("the response has no entitlement")
                }
                return { $0.entitlementChecked(entitlement, now: $1) }
            case .loadCover(let product, let cover):
                place = (.cover, product)
                try await self.download(cover) { _ in }
                return { machine, _ in machine.coverLoaded(product, cover) }
            case .requestGrant(let product):
                place = (.grant, product)
                let (size, proof) = (self.configuration.screenSize, self.configuration.proof)
                let grant = try await self.newsstand.downloadGrant(for: product, screenSize: size, proof: proof)
                return { machine, _ in machine.granted(product, grant) }
            case .download(let product, let file):
                place = (.download, product)
                let progress = Progress(self.time)
                self.progress = (product, progress)
                try await self.download(file) { progress.note($0) }
                return { $0.downloaded(product, now: $1) }
            default: return { _, _ in [] }
            }
        } catch {
            let (step, product) = place
            return { $0.failed(step, of: product, error, now: $1) }
        }
    }

    private func download(
        _ file: PublishedFile,
        progress: @escaping @Sendable (Int64) -> Void
    ) async throws(NewsstandError) {
        do {
            let part = try self.storage.part(of: file)
            try await self.newsstand.download(file, into: part.content, progress: progress)
            try part.keep()
        } catch let error as NewsstandError {
            throw error
        } catch {
            throw NewsstandError.storage(ErrorDescription.of(error))
        }
    }

    private func noteProgress() {
        guard let (product, progress) = self.progress, let (bytes, first) = progress.received else { return }
        self.machine.received(bytes, of: product, since: first)
    }
}

/// The settings of a reader: the publisher's app, its provider and its user.
package struct ReaderConfiguration: Sendable {
    /// The provider and the app, with the public API key in its binary.
    package var app: MartletKit.Martlet.Configuration
    /// The key in the URL of the registration form, or `nil` if the account is among those that the provider lists.
    package var registrationKey: String?
    /// The user's account with the publisher, for the registration form and the catalogue, or `nil` for none.
    package var account: String?
    package var proof = PurchaseProof()
    /// The size of the screen in pixels. Default 2048x1536.
    package var screenSize = "2048x1536"
    /// The environment of the device tokens. Default sandbox.
    package var environment: PushTypes.PushEnvironment = .sandbox
    /// The permissions that the user grants, where `background` stands for the permission for Newsstand. Default all.
    package var capabilities = PhoneNotificationCenter.allCapabilities
    package var rules = ReaderRules()
    /// The kind of network at the launch. Default Wi-Fi.
    package var network: ReaderNetwork = .wifi
    package var transport: any DownloadTransport = HTTPClientTransport()

    package init(app: MartletKit.Martlet.Configuration) { self.app = app }

    func registration(deviceID: UUID, token: [UInt8], capabilities: Capabilities) -> TransportRequest {
        let form = PublisherRegistrationForm(
            deviceID: deviceID,
            token: token,
            account: self.account,
            capabilities: capabilities,
            screenSize: self.screenSize,
            environment: self.environment
        )
        return form.request(provider: self.app.provider, app: self.app.app, key: self.registrationKey)
    }
}
