package import Foundation
package import Logging
package import MartletKit
package import PushDevice
import PushSupport
package import PushTypes
import ServiceLifecycle

/// A phone with one app: a device of the push service, its notification centre, and the app with MartletKit. The
/// simulator is a `Service`, which executes the user's commands while it runs.
package actor Simulator: Service {
    /// The time limit for sending pending changes and receipts when the simulator stops.
    package static let flushTime: Duration = .seconds(5)

    package var deviceID: String { self.identity.deviceID }
    /// The events that the command `wait` has not consumed yet.
    package nonisolated let tally = EventTally()

    let configuration: SimulatorConfiguration
    let folder: PhoneFolder
    let services: PhoneServices
    private let logger: Logger

    var center: PhoneNotificationCenter
    private(set) var identity: DeviceIdentity
    var app: SimulatedApp
    var deviceToken: String?
    /// The device token for Live Activities, or `nil` before the push service has issued one.
    var activityToken: String?
    private var activityKind: MartletKit.TokenKind?
    var attachments: Set<String>
    /// The connected device with its device link, or `nil` while the phone is not connected.
    private var device: Device?
    private var channels: Set<String> = []
    var isInForeground = false
    var lastOpened: NotificationEntry?
    private var session: Task<Void, Never>?
    private var timer: Task<Void, any Error>?
    let log: SimulatorEventLog

    /// Creates the phone with the state in `folder`, which stores later changes.
    /// - Parameters:
    ///   - identity: The identity of the device.
    ///   - print: A closure that receives each event.
    /// - Throws: ``PhoneError`` for a folder or a configuration that cannot be used.
    package init(
        _ configuration: SimulatorConfiguration,
        folder: PhoneFolder,
        identity: DeviceIdentity,
        services: PhoneServices,
        logger: Logger,
        print: @escaping @Sendable (SimulatorEvent) -> Void
    ) throws {
        (self.configuration, self.folder, self.identity) = (configuration, folder, identity)
        (self.services, self.logger) = (services, logger)
        let center = try folder.loadCenter()
        self.center = center
        self.attachments = folder.attachments(install: center.installs)
        self.log = SimulatorEventLog(tally: self.tally, print: print)
        self.app = try Self.app(configuration, folder, install: self.center.installs, self.log)
    }

    static func app(
        _ configuration: SimulatorConfiguration,
        _ folder: PhoneFolder,
        install: Int,
        _ log: SimulatorEventLog
    ) throws -> SimulatedApp {
        log.current(install: install)
        return try SimulatedApp(configuration, folder: folder.appFolder(install: install)) { event in
            log.report(event, install: install)
        }
    }

    package func run() async throws {
        await self.launch()
        try? await gracefulShutdown()
        await self.end()
    }

    // MARK: - The app's process

    func launch() async {
        let device = Device(identity: self.identity, configuration: self.configuration.device, logger: self.logger)
        (self.device, self.channels) = (device, [])
        (self.activityToken, self.activityKind) = (nil, nil)
        self.log.launched(registering: [.alert, self.center.activityTokenKind])
        // The session outlives the command that begins it.
        self.session = Task.detached { [self] in
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    do {
                        try await device.run()
                    } catch {
                        self.log.problem("the phone cannot connect: \(ErrorDescription.of(error))")
                    }
                }
                group.addTask { await self.register(device) }
                group.addTask { for await notification in device.notifications { await self.receive(notification) } }
            }
        }
        do {
            try await self.app.registerKey()
        } catch {
            self.log.problem("there is no key for encrypted content: \(ErrorDescription.of(error))")
        }
        do {
            try await self.app.martlet.updateProfile(self.profile)
            if let proof = self.configuration.userProof { try await self.app.martlet.attach(userProof: proof) }
        } catch {
            self.log.problem("\(error)")
        }
        self.followChannels()
        self.advance()
    }

    func end() async {
        self.timer?.cancel()
        self.session?.cancel()
        await self.session?.value
        self.session = nil
    }

    private func register(_ device: Device) async {
        guard let token = await device.token(of: self.configuration.app, log: self.log) else { return }
        (self.deviceToken, self.identity) = (token, device.identity)
        do {
            try self.services.save(device.identity)
            let text = "device token \(token.prefix(16))… (\(token.utf8.count / 2) bytes)"
            self.log.report(SimulatorEvent(.connected, text, ["deviceToken": token.json]))
            try await self.app.martlet.register(token: Self.bytes(of: token))
        } catch {
            self.log.problem("the device token is not registered: \(ErrorDescription.of(error))")
        }
        self.activityToken = await device.token(of: self.activityTopic, log: self.log)
        if self.activityToken == nil { self.log.abandon(self.center.activityTokenKind) }
        await self.registerActivityToken()
        if await self.app.martlet.status()?.isConfirmed == true { self.log.confirmed() }
    }

    /// Returns the bytes of a hexadecimal token. For any other string, they are empty, so that MartletKit refuses the
    /// token.
    private static func bytes(of token: String) -> Data { DeviceToken(hex: token).map { Data($0.bytes) } ?? Data() }

    var profile: DeviceProfile {
        var profile = DeviceProfile.current(capabilities: self.center.capabilities)
        profile.locale = self.configuration.locale ?? profile.locale
        profile.timeZone = self.configuration.timeZone ?? profile.timeZone
        profile.appVersion = self.configuration.appVersion ?? profile.appVersion
        return profile
    }

    // MARK: - Pushes

    private func receive(_ notification: PushDevice.ReceivedNotification) async {
        let push = PhonePush(notification)
        switch self.center.arrived(push) {
        case .drop(let events): self.log.report(events)
        case .deliver(let content): await self.deliver(content, of: push)
        case .runExtension(let content):
            let (extended, events) = await self.app.serviceExtension.extend(content)
            for event in events { self.log.report(event) }
            if let attachment = extended.attachment { self.attachments.insert(PhoneFolder.name(of: attachment)) }
            await self.deliver(extended, of: push)
        }
    }

    private func deliver(_ content: PushContent, of push: PhonePush) async {
        let events = self.center.deliver(content, of: push, now: Date())
        self.keep()
        self.log.report(events)
        for event in events {
            switch event {
            case .shown(let entry, _) where self.isInForeground: await self.app.receive(entry.payload, .foreground)
            case .woken(let content, _): await self.app.receive(content.payload, .background)
            case .activity:
                await self.registerActivityToken()
                self.followChannels()
            default: break
            }
        }
        self.advance()
    }

    /// Marks Live Activities as stale and removes ended ones when that is due, and schedules the next change.
    private func advance() {
        self.timer?.cancel()
        self.timer = nil
        let events = self.center.advance(to: Date())
        if !events.isEmpty { self.keep() }
        self.log.report(events)
        guard let next = self.center.nextChange else { return }
        let delay = max(0, next.timeIntervalSinceNow)
        self.timer = Task.detached { [weak self] in
            try await Task.sleep(for: .seconds(delay))
            await self?.advance()
        }
    }

    /// Saves the phone's state, and deletes the attachments of notifications that are no longer in the list.
    func keep() {
        if !self.attachments.isEmpty {
            let kept = Set(self.center.entries.compactMap { $0.attachment.map(PhoneFolder.name) })
            for name in self.attachments.subtracting(kept) {
                self.folder.removeAttachment(name, install: self.center.installs)
            }
            self.attachments.formIntersection(kept)
        }
        do {
            try self.folder.save(self.center)
        } catch {
            self.log.problem("\(error)")
        }
    }
}

/// The handling of the token and the broadcast channels of the app's Live Activities.
extension Simulator {
    var activityTopic: String { self.configuration.app + PushType.liveactivity.topicSuffix }

    /// Registers the token for Live Activities under its current kind, unless it is already registered under that kind.
    private func registerActivityToken() async {
        let kind = self.center.activityTokenKind
        guard let token = self.activityToken, kind != self.activityKind else { return }
        self.activityKind = kind
        self.log.expect(kind)
        do {
            let others = self.center.activities.map { MartletKit.TokenKind.liveActivityUpdate(activity: $0.id) }
            for other in [.liveActivityStart] + others where other != kind {
                try await self.app.martlet.forgetToken(of: other)
            }
            try await self.app.martlet.register(token: Self.bytes(of: token), kind: kind)
        } catch {
            self.log.problem("the token for Live Activities is not registered: \(error)")
        }
    }

    /// Follows the broadcast channels of the Live Activities that have not ended, and no others.
    private func followChannels() {
        guard let device = self.device else { return }
        let (channels, app) = (self.center.channels, self.configuration.app)
        for channel in self.channels.subtracting(channels) { try? device.unfollow(channel: channel, of: app) }
        for channel in channels.subtracting(self.channels) {
            Task { [log = self.log] in
                do {
                    try await device.follow(channel: channel, of: app)
                } catch is CancellationError {
                    // The phone has ended.
                } catch {
                    log.problem("the broadcast channel \(channel) cannot be followed: \(ErrorDescription.of(error))")
                }
            }
        }
        self.channels = channels
    }
}

/// The settings of a simulated phone: its app, its provider and its push service.
package struct SimulatorConfiguration: Sendable {
    package var app: String
    package var provider: URL
    /// The app's public key for the provider's API, which the app's binary contains.
    package var publicKey: String
    /// The environment of the device tokens. Default sandbox.
    package var environment: PushTypes.PushEnvironment = .sandbox
    package var device: DeviceConfiguration
    /// The locale, time zone and app version that the app registers, or `nil` for those of the system and no version.
    package var locale, timeZone, appVersion: String?
    /// The user proof (see `UserProof`) with which the app signs its user in at the launch, or `nil` for none.
    package var userProof: String?
    package var categories: [NotificationCategory] = []
    /// The transport for the app's requests and the downloads of attachments.
    package var transport: any DownloadTransport = HTTPClientTransport()
    /// The contents of the rule file for screens, or `nil` if no notification opens a screen.
    package var routes: Data?

    package init(app: String, provider: URL, publicKey: String, device: DeviceConfiguration) {
        (self.app, self.provider, self.publicKey, self.device) = (app, provider, publicKey, device)
    }
}

/// The operations on a device that the device link does not offer.
package struct PhoneServices: Sendable {
    /// A closure that stores the identity of the device for the next run.
    package let save: @Sendable (DeviceIdentity) throws -> Void
    /// A closure that reports to the push service that an app was removed from a device, which invalidates its token.
    package let removeApp: @Sendable (_ device: DeviceIdentity, _ topic: String) async throws -> Void

    package init(
        save: @escaping @Sendable (DeviceIdentity) throws -> Void,
        removeApp: @escaping @Sendable (_ device: DeviceIdentity, _ topic: String) async throws -> Void
    ) {
        (self.save, self.removeApp) = (save, removeApp)
    }
}

extension Device {
    /// Requests the device token of a topic, and retries until there is one.
    /// - Returns: The token, or `nil` if the push service does not know the topic or the task is cancelled.
    func token(of topic: String, log: SimulatorEventLog) async -> String? {
        while !Task.isCancelled {
            do {
                return try await self.deviceToken(for: topic)
            } catch is CancellationError {
                return nil
            } catch DeviceError.topicNotRegistered {
                log.problem("the push service knows no app \(topic): add it there first")
                return nil
            } catch {
                log.problem("no device token: \(ErrorDescription.of(error))")
            }
        }
        return nil
    }
}
