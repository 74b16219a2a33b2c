import Foundation
import PushDevice
import PushSupport

/// Keeps a device's identity in a file that only its owner can read.
struct IdentityFile: Sendable {
    let path: String

    /// Returns the identity in the file; if there is no file, a new one from `activate`, which is then kept.
    /// - Throws: ``SettingsError`` for a file without an identity, or one that cannot be written.
    func loadOrCreate(_ activate: () async throws -> DeviceIdentity) async throws -> DeviceIdentity {
        if FileManager.default.fileExists(atPath: self.path) {
            do {
                let content = try Data(contentsOf: URL(filePath: self.path))
                return try JSONDecoder().decode(DeviceIdentity.self, from: content)
            } catch {
                let cause = ErrorDescription.of(error)
                throw SettingsError(
                    "\(self.path) has no device identity (remove it to activate a new device): \(cause)"
                )
            }
        }
        let identity = try await activate()
        try self.save(identity)
        return identity
    }

    /// Replaces the file durably.
    func save(_ identity: DeviceIdentity) throws {
        let directory = URL(filePath: self.path).deletingLastPathComponent().path
        if !FileManager.default.fileExists(atPath: directory) { _ = DurableFile.makePrivateFolder(directory) }
        guard DurableFile.replace(self.path, Array(try JSONEncoder().encode(identity))) else {
            throw SettingsError("\(self.path) cannot be written: \(DurableFile.lastError)")
        }
    }
}
