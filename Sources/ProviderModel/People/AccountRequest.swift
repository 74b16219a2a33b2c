package import PushSupport

/// The requests of a person that concern the person's own account.
package enum AccountRequest {
    package static let change = RequestObject(optional: [PersonRequest.language])

    package static let current = Member.text("current", 1...PasswordPolicy.maximumBytes)
    package static let password = Member.text("password", 1...PasswordPolicy.maximumBytes)
    package static let passwordChange = RequestObject(required: [Self.current, Self.password])
}
