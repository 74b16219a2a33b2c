/// A file of a form (RFC 7578).
package struct FormFile: Equatable, Sendable {
    /// The name of the field.
    package let name: String
    /// The name that the client's system gives the file. It is shown at most, and names nothing on this side.
    package let fileName: String
    package let content: [UInt8]

    package init(name: String, fileName: String, content: [UInt8]) {
        (self.name, self.fileName, self.content) = (name, fileName, content)
    }
}
