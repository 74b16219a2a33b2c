import Foundation
import PushSupport

/// The folder that stores the state of a simulated phone between two runs. Only one process at a time can use it.
package final class PhoneFolder: Sendable {
    package let path: String
    private let lock: DirectoryLock

    /// Creates the folder if it is missing, and locks it.
    /// - Throws: ``PhoneError`` if the folder cannot be used, for example because another process has locked it.
    package init(_ path: String) throws {
        guard DurableFile.makePrivateFolder(path) else {
            throw PhoneError("the folder \(path) cannot be made: \(DurableFile.lastError)")
        }
        do {
            self.lock = try DirectoryLock(folder: path)
        } catch {
            throw PhoneError("the folder \(path) cannot be used: \(error)")
        }
        self.path = path
    }

    package var identityFile: String { "\(self.path)/device.json" }
    /// Returns the path of the folder for one installation of the app. Each installation has another folder, so that
    /// unfinished work of a removed installation cannot change the current one.
    package func appFolder(install: Int) -> String { "\(self.path)/app-\(install)" }
    package static func attachments(of appFolder: String) -> String { "\(appFolder)/attachments" }
    private var phoneFile: String { "\(self.path)/phone.json" }

    /// Returns the stored notification centre, or an empty one if none was stored yet.
    /// - Throws: ``PhoneError`` for a file that cannot be read.
    package func loadCenter() throws -> PhoneNotificationCenter {
        guard FileManager.default.fileExists(atPath: self.phoneFile) else { return PhoneNotificationCenter() }
        do {
            let data = try Data(contentsOf: URL(filePath: self.phoneFile))
            return try JSONDecoder().decode(PhoneNotificationCenter.self, from: data)
        } catch {
            let cause = ErrorDescription.of(error)
            throw PhoneError("\(self.phoneFile) has no phone (remove it to begin with an empty one): \(cause)")
        }
    }

    /// Stores the notification centre.
    /// - Throws: ``PhoneError`` if the file cannot be written.
    package func save(_ center: PhoneNotificationCenter) throws {
        guard let data = try? JSONEncoder().encode(center), DurableFile.replace(self.phoneFile, Array(data)) else {
            throw PhoneError("\(self.phoneFile) cannot be written: \(DurableFile.lastError)")
        }
    }

    /// Returns the file names of the attachments of an installation of the app, or an empty set if there are none.
    func attachments(install: Int) -> Set<String> {
        let folder = Self.attachments(of: self.appFolder(install: install))
        return Set((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
    }

    static func name(of attachment: String) -> String { URL(filePath: attachment).lastPathComponent }

    func removeAttachment(_ name: String, install: Int) {
        let folder = Self.attachments(of: self.appFolder(install: install))
        try? FileManager.default.removeItem(atPath: "\(folder)/\(name)")
    }

    /// Removes the folder of an installation of the app.
    /// - Throws: ``PhoneError`` if the folder cannot be removed.
    package func removeApp(install: Int) throws {
        let folder = self.appFolder(install: install)
        guard FileManager.default.fileExists(atPath: folder) else { return }
        do {
            try FileManager.default.removeItem(atPath: folder)
        } catch {
            throw PhoneError("\(folder) cannot be removed: \(ErrorDescription.of(error))")
        }
    }
}
