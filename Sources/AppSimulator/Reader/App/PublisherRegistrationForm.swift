package import Foundation
package import MartletKit
package import PushTypes

/// The form with which a publisher's app registers a device, as `multipart/form-data` (APNs reference 10.1).
package struct PublisherRegistrationForm: Hashable, Sendable {
    package var deviceID: UUID
    package var token: [UInt8]
    /// The user's account with the publisher, or `nil` for none.
    package var account: String?
    /// The permissions that the user has granted, where `background` stands for the permission for Newsstand.
    package var capabilities: Capabilities
    /// The size of the screen in pixels, such as `2048x1536`.
    package var screenSize: String
    package var environment: PushTypes.PushEnvironment

    package init(
        deviceID: UUID,
        token: [UInt8],
        account: String?,
        capabilities: Capabilities,
        screenSize: String,
        environment: PushTypes.PushEnvironment
    ) {
        (self.deviceID, self.token, self.account) = (deviceID, token, account)
        (self.capabilities, self.screenSize, self.environment) = (capabilities, screenSize, environment)
    }

    /// The form fields in the order of APNs reference 10.1. A granted permission has the value of its bit in iOS, and
    /// any other has 0.
    var fields: [(name: String, value: String)] {
        func bit(_ capability: Capabilities, _ value: Int) -> String {
            self.capabilities.contains(capability) ? "\(value)" : "0"
        }
        var fields = [
            (name: "devId", value: self.deviceID.uuidString),
            (name: "token", value: Data(self.token).base64EncodedString()),
        ]
        if let account { fields.append((name: "accountId", value: account)) }
        return fields + [
            (name: "badgeEnabled", value: bit(.badge, 1)), (name: "soundEnabled", value: bit(.sound, 2)),
            (name: "alertEnabled", value: bit(.alert, 4)), (name: "newsstandEnabled", value: bit(.background, 8)),
            (name: "screenSize", value: self.screenSize),
        ]
    }

    /// Returns the HTTP request that submits the form.
    /// - Parameter key: The registration key in the URL, or `nil` if the account is among those the provider lists.
    package func request(provider: URL, app: String, key: String?) -> TransportRequest {
        let path = ["compat/publisher", app, key, "register"].compactMap { $0 }.joined(separator: "/")
        let environment = URLQueryItem(name: "environment", value: self.environment.rawValue)
        let boundary = "martlet-\(self.deviceID.uuidString)"
        var body = ""
        for (name, value) in self.fields {
            body += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
        }
        return TransportRequest(
            method: "POST",
            url: provider.appending(path: path).appending(queryItems: [environment]),
            headers: ["content-type": "multipart/form-data; boundary=\(boundary)"],
            body: Data("\(body)--\(boundary)--\r\n".utf8)
        )
    }
}
