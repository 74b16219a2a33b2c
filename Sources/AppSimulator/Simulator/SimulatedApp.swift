package import Foundation
import MartletKit
package import PushSupport
import PushTypes

/// The app on the phone: its process and its notification service extension, which share a folder.
struct SimulatedApp: Sendable {
    let martlet: Martlet
    let serviceExtension: ServiceExtension
    private let router: ScreenRouter?

    /// Creates the app of one installation.
    /// - Parameters:
    ///   - folder: The folder of the installation.
    ///   - report: A closure that receives each event of MartletKit.
    /// - Throws: ``PhoneError`` for a configuration that cannot be used.
    init(
        _ configuration: SimulatorConfiguration,
        folder: String,
        report: @escaping @Sendable (Martlet.Event) -> Void
    ) throws {
        var settings: Martlet.Configuration
        let storage: FolderStorage
        do {
            settings = try Martlet.Configuration(
                provider: configuration.provider,
                app: configuration.app,
                key: configuration.publicKey
            )
            storage = try FolderStorage(folder: URL(filePath: folder))
        } catch let error as Martlet.ConfigurationError {
            throw PhoneError("\(error)")
        } catch {
            throw PhoneError("the folder \(folder) cannot be used: \(ErrorDescription.of(error))")
        }
        settings.environment = MartletKit.PushEnvironment(rawValue: configuration.environment.rawValue)
        self.martlet = Martlet(settings, storage: storage, transport: configuration.transport, report: report)
        settings.role = .serviceExtension
        self.serviceExtension = ServiceExtension(
            martlet: Martlet(settings, storage: storage, transport: configuration.transport, report: report),
            keys: EncryptionKeys(storage: storage),
            badge: BadgeCount(storage: storage),
            folder: URL(filePath: PhoneFolder.attachments(of: folder)),
            transport: configuration.transport
        )
        self.router = try configuration.routes.map { try ScreenRouter(rules: $0) }
    }

    /// Registers the installation's encryption key with the provider.
    /// - Throws: An error if the key cannot be read, created or registered.
    func registerKey() async throws {
        let key = try self.serviceExtension.keys.current()
        try await self.martlet.setEncryptionKey(key)
    }

    /// Passes a notification to the app.
    /// - Returns: The notification, decrypted if it was encrypted, or `nil` for a payload that MartletKit cannot read.
    @discardableResult
    func receive(
        _ payload: [String: PushSupport.JSONValue],
        _ arrival: Arrival
    ) async -> MartletKit.ReceivedNotification? {
        guard let notification = Self.notification(payload) else { return nil }
        return await self.martlet.receive(notification, arrival).notification
    }

    /// Returns the screen that a notification opens, or `nil` if there is no rule file or it requests none.
    func opening(_ notification: MartletKit.ReceivedNotification) -> ScreenRouter.Opening? {
        self.router?.opening(notification)
    }

    /// Returns the provider's id of a notification, or `nil` if its payload has none.
    func id(of payload: [String: PushSupport.JSONValue]) -> UUID? { Self.notification(payload)?.id }

    /// Parses a payload as the app does. Returns `nil` for a payload that MartletKit cannot parse.
    static func notification(_ payload: [String: PushSupport.JSONValue]) -> MartletKit.ReceivedNotification? {
        (try? PushSupport.JSONValue.object(payload).text).flatMap { MartletKit.ReceivedNotification(json: $0) }
    }
}

/// The app's notification service extension, which decrypts content, updates the badge and loads the attachment.
struct ServiceExtension: Sendable {
    let martlet: Martlet
    let keys: EncryptionKeys
    let badge: BadgeCount
    let folder: URL
    let transport: any DownloadTransport

    /// Changes the content of a notification before it is shown, and returns it together with the events to report.
    func extend(_ content: PushContent) async -> (content: PushContent, events: [SimulatorEvent]) {
        guard let received = SimulatedApp.notification(content.payload) else {
            return (content, [Self.problem("the library does not read this payload")])
        }
        var done: [String] = []
        var events: [SimulatorEvent] = []
        let notification = await self.martlet.receive(received, .serviceExtension).notification
        let wasOpened = notification != received
        if wasOpened { done.append("decrypted") }
        var extended = wasOpened ? PushContent(notification, in: content.payload) : content
        do {
            if let count = try self.badge.apply(notification) {
                if count != extended.badge { done.append("badge \(count)") }
                extended.badge = count
            }
        } catch {
            events.append(Self.problem("the badge cannot be counted: \(ErrorDescription.of(error))"))
        }
        var policy = AttachmentPolicy()
        // The simulator must be usable with local servers only.
        policy.allowsLocalServers = true
        do {
            let loader = AttachmentLoader(folder: self.folder, policy: policy, transport: self.transport)
            if let attachment = try await loader.attachment(of: notification) {
                extended.attachment = attachment.file.path
                done.append("attachment of type \(attachment.type.rawValue)")
            }
        } catch {
            events.append(Self.problem("there is no attachment: \(error)"))
        }
        let text = done.isEmpty ? "nothing to change" : done.joined(separator: ", ")
        let changes = PushSupport.JSONValue.array(done.map { .string($0) })
        events.append(SimulatorEvent(.extension, text, ["changes": changes]))
        return (extended, events)
    }

    private static func problem(_ text: String) -> SimulatorEvent {
        SimulatorEvent(.problem, text, ["problem": text.json])
    }
}

extension PushContent {
    /// Creates the content of a decrypted notification, which is shown instead of the placeholder in `payload`. The
    /// payload is kept as it arrived, because the app decrypts it again.
    init(_ notification: MartletKit.ReceivedNotification, in payload: [String: PushSupport.JSONValue]) {
        var members = payload
        var aps: [String: PushSupport.JSONValue] = [:]
        if case .object(let earlier)? = payload["aps"] { aps = earlier }
        let alert = ["title": notification.title, "subtitle": notification.subtitle, "body": notification.body]
        aps["alert"] = .object(alert.compactMapValues { $0?.json })
        aps["badge"] = notification.badge.map { .integer(Int64($0)) }
        aps["sound"] = notification.sound?.json
        aps["interruption-level"] = notification.interruptionLevel?.rawValue.json
        aps["category"] = notification.category?.json
        aps["thread-id"] = notification.threadID?.json
        members["aps"] = .object(aps)
        self.init(payload: (try? PushSupport.JSONValue.object(members).text) ?? Data())
        self.payload = payload
    }
}

/// The app's screens and the rules by which a notification opens one of them.
package struct ScreenRouter: Sendable {
    /// A screen to open, with the values of its parameters.
    package struct Opening: Hashable, Sendable {
        package let screen: String
        package let values: [String: PushSupport.JSONValue]
        /// The reason why the fallback screen is opened, or `nil` if this is the screen that the payload requests.
        package let refusal: String?
    }

    private let router: NotificationRouter<[String: PushSupport.JSONValue]>

    /// Parses a rule file.
    /// - Throws: ``PhoneError`` with the location of the mistake in the file.
    package init(rules text: Data) throws {
        do {
            let rules = try ScreenRules(json: text)
            let makers = rules.screens.map { screen in
                (screen.name, { @Sendable values in try Self.values(values, of: screen) })
            }
            self.router = try NotificationRouter(rules, destinations: Dictionary(makers) { first, _ in first })
        } catch {
            throw PhoneError("the rule file cannot be used: \(error)")
        }
    }

    /// Returns the screen that a notification opens, or `nil` if the notification requests none.
    func opening(_ notification: MartletKit.ReceivedNotification) -> Opening? {
        self.router.route(notification).map { route in
            Opening(screen: route.screen, values: route.destination, refusal: route.refusal?.description)
        }
    }

    private static func values(
        _ values: ScreenValues,
        of screen: NotificationScreen
    ) throws -> [String: PushSupport.JSONValue] {
        var texts: [String: PushSupport.JSONValue] = [:]
        for parameter in screen.parameters {
            texts[parameter.name] = try values.optional(parameter.name, as: AnyScreenValue.self)?.json
        }
        return texts
    }
}

/// The value of a screen's parameter, whatever its type.
private struct AnyScreenValue: ScreenValue {
    let json: PushSupport.JSONValue

    init?(screenValue value: MartletKit.JSONValue) {
        guard let json = try? PushSupport.JSONValue(parsing: value.json) else { return nil }
        self.json = json
    }
}
