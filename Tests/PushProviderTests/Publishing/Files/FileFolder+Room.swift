import Foundation

@testable import PushProvider

extension FileFolder {
    /// Makes a folder on a disk that has room for so many bytes, of which those in the folder are taken.
    init(path: String, room: Int) {
        self.init(path: path) { path in
            let files = FileManager.default.subpaths(atPath: path) ?? []
            return files.reduce(room) { left, name in
                let attributes = try? FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
                guard attributes?[.type] as? FileAttributeType == .typeRegular else { return left }
                return left - (attributes?[.size] as? Int ?? 0)
            }
        }
    }
}
