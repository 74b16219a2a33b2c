package import PushSupport
package import PushTypes

/// The requests that render a notification or a template for one device.
package enum PreviewRequest {
    private static let lengths = 1...Member.maximumText

    package static let device = Member.text("device", maximum: DeviceToken.maximumLength * 4, as: .writtenToken)
        .described("The token of a registered device to render for.")
        .parsed("invalid_token", "a device token is hex or base64") { DeviceToken(userInput: $0) }
    package static let user = Member.text("user", Self.lengths)
    package static let locale = Member.text("locale", Self.lengths)
    package static let timeZone = Member.text("timeZone", Self.lengths)
    package static let appVersion = Member.text("appVersion", Self.lengths)
    package static let attributes = Member.openObject("attributes", as: .map(of: .attribute))
    package static let badge = Member.integer("badge", BadgeChange.counts)
    package static let subject = Member.object(
        "subject",
        RequestObject(optional: [Self.user, Self.locale, Self.timeZone, Self.appVersion, Self.attributes, Self.badge])
    ).described("An invented device to render for.")

    /// The members of a request that name or describe the device.
    package static let subjects: [any RequestMemberProtocol] = [
        Self.device, Self.user.described("The user to render for, by the first registered device."),
        Self.subject,
    ]

    package static let notification = NotificationRequest.makeObject(named: "PreviewRequest", with: Self.subjects)

    /// The members that refer to the template and give values to its variables.
    package static let reference: [any RequestMemberProtocol] = [
        TemplateReference.versionMember, TemplateVariables.member,
    ]
    package static let template = RequestObject(optional: Self.reference, Self.subjects)
}
