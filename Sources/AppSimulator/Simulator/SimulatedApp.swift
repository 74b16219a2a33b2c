import Foundation
import MartletKit
import PushSupport
import PushTypes

/// The app of the phone: its process and its notification service extension, which share a folder.
struct SimulatedApp: Sendable {
    let martlet: Martlet
    let serviceExtension: ServiceExtension
    private let router: ScreenRouter?

    /// - Parameters:
    ///   - folder: The folder of one installation of the app.
    ///   - report: Receives each event of the library.
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

    /// Tells the provider the key to which content can be encrypted.
    func registerKey() async throws {
        let key = try self.serviceExtension.keys.current()
        try await self.martlet.setEncryptionKey(key)
    }

    /// Hands a notification to the app.
    /// - Returns: The notification, opened if it was encrypted; `nil` for one that the library does not read.
    @discardableResult
    func receive(
        _ payload: [String: PushSupport.JSONValue],
        _ arrival: Arrival
    ) async -> MartletKit.ReceivedNotification? {
        guard let notification = Self.notification(payload) else { return nil }
        return await self.martlet.receive(notification, arrival).notification
    }

    /// Returns the screen that a notification opens; `nil` without rules, and if it asks for none.
    func opening(_ notification: MartletKit.ReceivedNotification) -> ScreenRouter.Opening? {
        self.router?.opening(notification)
    }

    /// Returns the provider's id of a notification; `nil` if its payload has none.
    func id(of payload: [String: PushSupport.JSONValue]) -> UUID? { Self.notification(payload)?.id }

    /// Reads a payload as the app does; `nil` for one that the library does not read.
    static func notification(
        _ payload: [String: PushSupport.JSONValue]
    ) -> MartletKit.ReceivedNotification? {
        (try? PushSupport.JSONValue.object(payload).text).flatMap { MartletKit.ReceivedNotification(json: $0) }
    }
}
