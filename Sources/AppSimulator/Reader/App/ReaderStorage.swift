package import MartletKit

/// The place where a reader keeps its state and its files.
package protocol ReaderStorage: Sendable {
    /// Returns the state of the last run; `nil` before the first.
    /// - Throws: ``PhoneError``
    func load() throws -> ReaderState?
    /// - Throws: ``PhoneError``
    func save(_ state: ReaderState) throws
    /// Opens what has arrived of a file.
    func part(of file: PublishedFile) throws -> any StoredPart
    /// Removes what has arrived of a file.
    func removePart(of file: PublishedFile)
}

/// The part of a file that has arrived at a reader.
package protocol StoredPart: Sendable {
    var content: any PartialContent { get }
    /// Keeps the whole file, whose hash was checked.
    func keep() throws
}
