import HTTPTypes

extension HTTPField.Name {
    /// The scheme that the client of a proxy has used.
    static var xForwardedProto: HTTPField.Name { .named("x-forwarded-proto") }
    static var ttl: HTTPField.Name { .named("ttl") }
    /// The URL at which a sender is told that a push resource has ended.
    static var unsubscribeURL: HTTPField.Name { .named("unsubscribe-url") }

    /// Returns a name; every name here is one.
    private static func named(_ name: String) -> HTTPField.Name { HTTPField.Name(name) ?? .location }
}
