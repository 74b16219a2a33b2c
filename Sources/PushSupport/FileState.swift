import Foundation

/// The attributes that change when a file is written or replaced, or when a symbolic link gets another target.
package struct FileState: Hashable, Sendable {
    private var modified: Date?
    private var size: Int?
    private var node: Int?

    /// Reads the attributes of a file, or returns `nil` if there is none.
    package init?(_ path: String) {
        let target = URL(filePath: path).resolvingSymlinksInPath().path
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: target) else { return nil }
        self.modified = attributes[.modificationDate] as? Date
        self.size = attributes[.size] as? Int
        self.node = attributes[.systemFileNumber] as? Int
    }
}
