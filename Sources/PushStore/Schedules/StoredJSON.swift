package import PushSupport

/// A value of a request that is stored: its JSON form is the same in the request, in the store and in responses.
package protocol StoredJSON: Sendable {
    /// The names of the members of the form.
    static var members: Set<String> { get }
    /// Reads the form.
    /// - Throws: ``RequestError`` that names the member at fault.
    init(_ fields: JSONFields) throws(RequestError)
    /// The canonical form.
    var json: JSONValue { get }
}

extension StoredJSON {
    /// Decodes the stored form, however old it is.
    package init(stored: JSONValue) throws(RequestError) { try self.init(JSONFields(stored, known: Self.members)) }
}
