import Foundation

/// The access that other users of the machine have to a file.
package enum FileExposure {
    /// Returns the mode of a file, such as `0644`, if its group or others may do something with it; `nil` if not, and for a
    /// file that does not exist.
    package static func mode(of path: String) -> String? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard let mode = (attributes?[.posixPermissions] as? NSNumber)?.intValue, mode & 0o077 != 0 else { return nil }
        return "0" + String(mode & 0o7777, radix: 8)
    }
}
