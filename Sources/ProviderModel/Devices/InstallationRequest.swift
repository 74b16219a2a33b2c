package import PushSupport

/// The request with which an installation registers itself.
package enum InstallationRequest {
    /// The maximum length of a user proof, the JWT that claims a user, in bytes. A longer one is rejected.
    package static let maximumProof = 4096

    package static let secret = Member.text("secret", 1...100)
        .described("That of an earlier response, with a changed token.")
    package static let userProof = Member.text("userProof", 1...Self.maximumProof)
        .described("A JWT that claims a user; null leaves the user.")
    private static let members: [any RequestMemberProtocol] = [
        DeviceRequest.Members.token.described("Hexadecimal or base64, but for the kind web."),
        DeviceRequest.Members.kind.described("Default alert, or the kind that is stored."),
        DeviceRequest.Members.activity.described("The app's id of the Live Activity."),
        DeviceRequest.Members.tags
            .described("They replace the installation's own: those that the app's installationTags allow."),
        DeviceRequest.Members.attributes
            .described("Those that the app's installationAttributes allow; null removes one, or all of them."),
        Self.secret, Self.userProof,
    ]
    package static let object = RequestObject(optional: DeviceRequest.Members.own, Self.members) {
        DeviceRequest.completed($0)
    }
}
