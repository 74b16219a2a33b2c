package import Foundation
package import MartletKit
import PushSupport

/// The folder of a reader: `reader.json`, and a file for each cover and issue below `files`, by their SHA-256.
package struct ReaderFolder: ReaderStorage {
    private let path: String

    /// Makes the folder, if it is missing.
    /// - Throws: ``PhoneError``
    package init(_ path: String) throws {
        guard DurableFile.makePrivateFolder("\(path)/files") else {
            throw PhoneError("the folder \(path) cannot be made: \(DurableFile.lastError)")
        }
        self.path = path
    }

    private var stateFile: String { "\(self.path)/reader.json" }

    /// The file of a cover or an issue, which exists once it is whole.
    package func file(_ file: PublishedFile) -> URL { URL(filePath: "\(self.path)/files/\(file.sha256)") }

    package func load() throws -> ReaderState? {
        guard FileManager.default.fileExists(atPath: self.stateFile) else { return nil }
        do {
            let data = try Data(contentsOf: URL(filePath: self.stateFile))
            return try JSONDecoder().decode(ReaderState.self, from: data)
        } catch {
            let cause = ErrorDescription.of(error)
            throw PhoneError("\(self.stateFile) has no reader (remove it to begin with an empty one): \(cause)")
        }
    }

    package func save(_ state: ReaderState) throws {
        guard let data = try? JSONEncoder().encode(state), DurableFile.replace(self.stateFile, Array(data)) else {
            throw PhoneError("\(self.stateFile) cannot be written: \(DurableFile.lastError)")
        }
    }

    package func part(of file: PublishedFile) throws -> any StoredPart {
        let destination = self.file(file)
        return Part(file: try PartialFile(beside: destination), destination: destination)
    }

    package func removePart(of file: PublishedFile) {
        try? FileManager.default.removeItem(at: PartialFile.place(beside: self.file(file)))
    }

    private struct Part: StoredPart {
        let file: PartialFile
        let destination: URL

        var content: any PartialContent { self.file }

        func keep() throws { try self.file.place(at: self.destination) }
    }
}
