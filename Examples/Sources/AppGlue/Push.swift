import Foundation
import MartletKit

/// What the app and its extension make of MartletKit.
enum Push {
    /// The app group's folder on a device.
    static func storage(_ folder: URL) throws -> FolderStorage {
        try FolderStorage(folder: folder.appending(path: "push"))
    }

    static func martlet(
        _ storage: any MartletStorage,
        role: Martlet.Configuration.Role,
        handler: (any NotificationHandler)? = nil
    ) throws -> Martlet {
        guard let provider = URL(string: "https://push.example.com") else { throw URLError(.badURL) }
        var configuration = try Martlet.Configuration(
            provider: provider,
            app: "com.example.shop",
            key: "mk_public_…"
        )
        configuration.role = role
        return Martlet(configuration, storage: storage, handler: handler) { event in print(event) }
    }

    /// Has the provider encrypt content to this installation, with a new key every 90 days.
    static func enableEncryption(_ martlet: Martlet, _ storage: any MartletStorage) async throws {
        let keys = EncryptionKeys(storage: storage)
        do {
            var key = try keys.current()
            if Date().timeIntervalSince(key.created) > 90 * 86400 { key = try keys.rotate() }
            try await martlet.setEncryptionKey(key)
        } catch is EncryptionKeys.DamageError {
            try await martlet.setEncryptionKey(keys.rotate())
        }
    }

    /// Downloads the attachment of a notification, within limits.
    static func attachment(of notification: ReceivedNotification, in folder: URL) async -> DownloadedAttachment? {
        let policy = AttachmentPolicy(types: [.jpeg, .png, .gif], maximumSize: 2_000_000, deadline: .seconds(15))
        do {
            return try await AttachmentLoader(folder: folder, policy: policy).attachment(of: notification)
        } catch {
            print("shown without its attachment: \(error)")
            return nil
        }
    }
}
