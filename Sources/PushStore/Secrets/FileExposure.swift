import Foundation

/// Finds files that other users of the machine can access.
package enum FileExposure {
    /// Returns the mode of a file, such as `0644`, if its group or other users have any permission, or `nil` if they
    /// have none or if there is no such file.
    package static func mode(of path: String) -> String? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard let mode = (attributes?[.posixPermissions] as? NSNumber)?.intValue, mode & 0o077 != 0 else { return nil }
        return "0" + String(mode & 0o7777, radix: 8)
    }
}
