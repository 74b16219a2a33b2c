import Foundation
import PushSupport

/// Files that commands write for their user. An existing one is not overwritten: that is a ``SettingsError``.
enum OutputFile {
    /// Creates a file.
    /// - Parameter isSecret: Whether only the owner can read the file.
    static func write(_ content: Data, to path: String, isSecret: Bool) throws {
        guard !FileManager.default.fileExists(atPath: path) else {
            throw SettingsError("\(path) exists already: move it away or name another file with --output")
        }
        // Nobody else can open a secret at any moment, and a link to another place is not followed.
        let isWritten =
            isSecret
            ? DurableFile.create(path, Array(content))
            : FileManager.default.createFile(
                atPath: path,
                contents: content,
                attributes: [.posixPermissions: 0o644]
            )
        guard isWritten else {
            throw SettingsError("\(path) cannot be written: \(DurableFile.lastError)")
        }
    }

    /// Creates a PEM file. It ends with a line break, so that PEM files can be concatenated.
    static func write(pem text: String, to path: String, isSecret: Bool) throws {
        try Self.write(Data(PEMText.file(text).utf8), to: path, isSecret: isSecret)
    }
}
