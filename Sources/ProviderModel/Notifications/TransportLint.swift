package import PushSupport
package import PushTypes

/// Checks a notification for members that the binary protocol of a credential does not have (decision 47).
///
/// If no environment could send the notification, it is refused. Otherwise there is a warning: in the environments with
/// the binary protocol, the notification is sent without the member, or its recipients are rejected.
package struct TransportLint {
    private let content: NotificationContent

    package init(content: NotificationContent) { self.content = content }

    /// A Boolean value that indicates whether the notification has anything that only HTTP/2 supports.
    package var isNeeded: Bool { self.content.collapseID != nil || !self.isCarried || self.isTooLong }

    private var isCarried: Bool { self.content.pushType.isCarriedByBinaryProtocol }
    private var isTooLong: Bool {
        !self.content.isTemplate && self.content.payload.count > BinaryCommand.framed.maximumPayloadLength
    }

    /// Returns the warnings about members that the binary protocol does not have.
    /// - Parameter transports: The protocol of each environment that the notification can go to.
    /// - Throws: ``RequestError`` for a notification that no environment could send.
    package func check(_ transports: [PushEnvironment: PushTransport]) throws(RequestError) -> [ContentWarning] {
        let binary = transports.filter { $0.value == .binary }.keys.map(\.rawValue).sorted()
        guard !binary.isEmpty else { return [] }
        let (isOnlyBinary, names) = (binary.count == transports.count, binary.joined(separator: " and "))
        let way = "the credential for \(names) uses the binary protocol"
        var warnings: [ContentWarning] = []
        func add(_ field: String, _ code: String, _ message: String) throws(RequestError) {
            if isOnlyBinary { throw RequestError(.invalid, code: code, message: message, path: field) }
            warnings.append(ContentWarning(field: field, message: "\(message): devices there are rejected"))
        }
        if !self.isCarried {
            let message = "\(way), which has no push type \(self.content.pushType.rawValue)"
            try add("pushType", "needs_http2", message)
        }
        if self.isTooLong {
            let (count, limit) = (self.content.payload.count, BinaryCommand.framed.maximumPayloadLength)
            try add("payload", "payload_too_large", "\(way): the payload has \(count) bytes, \(limit) are the most")
        }
        if self.content.collapseID != nil {
            warnings.append(ContentWarning(field: "collapseId", message: "\(way), which drops it"))
        }
        return warnings
    }
}
