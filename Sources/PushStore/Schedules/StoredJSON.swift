package import PushSupport

/// A value of a request that is stored: its JSON form is the same in the request, in the store and in responses.
package protocol StoredJSON: Sendable {
    /// The members of the form.
    static var object: RequestObject { get }
    /// Reads the form.
    /// - Throws: ``RequestError`` that names the member at fault.
    init(_ fields: JSONFields) throws(RequestError)
    /// The canonical form.
    var json: JSONValue { get }
}

extension StoredJSON {
    /// Decodes the stored form, however old it is.
    package init(stored: JSONValue) throws(RequestError) { try self.init(JSONFields(stored, known: Self.object.known)) }
}
