import Foundation
import PushDevice
import PushProtocol

/// Keeps a device's identity in a file that only its owner can read.
struct IdentityFile: Sendable {
    let path: String

    /// The identity in the file; if there is no file, a new one from `activate`, which is then kept.
    func loadOrCreate(_ activate: () async throws -> DeviceIdentity) async throws -> DeviceIdentity {
        if FileManager.default.fileExists(atPath: self.path) {
            do {
                return try JSONDecoder().decode(
                    DeviceIdentity.self,
                    from: Data(contentsOf: URL(filePath: self.path))
                )
            } catch {
                throw SettingsError(
                    "\(self.path) holds no device identity (remove it to activate anew): \(ErrorText.of(error))"
                )
            }
        }
        let identity = try await activate()
        try self.save(identity)
        return identity
    }

    func save(_ identity: DeviceIdentity) throws {
        let url = URL(filePath: self.path)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(),
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        try JSONEncoder().encode(identity).write(to: url, options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: self.path)
    }
}
