package import PushSupport

/// The request that registers several devices.
package enum DeviceBatchRequest {
    /// The maximum number of registrations in one request. A request with more is rejected.
    package static let maximumCount = 1000
    package static let devices = Member.json(
        "devices",
        as: .array(of: DeviceRequest.object.schema, count: 1...Self.maximumCount)
    )
    package static let object = RequestObject(required: [Self.devices])

    /// Returns the registration of one entry of the member `devices`. Its errors name the entry by `index`.
    package static func registration(_ value: JSONValue, _ index: Int) throws(RequestError) -> DeviceRegistration {
        let path = "devices[\(index)]"
        guard case .object(let members) = value else {
            throw RequestError(.invalid, code: "wrong_type", message: "it must be an object", path: path)
        }
        return try DeviceRequest.registration(
            JSONFields(members: members, path: path, known: DeviceRequest.object.known)
        )
    }
}
