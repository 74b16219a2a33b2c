/// The setting that opens a credential.
enum CredentialSettings: SettingSection {
    static let passphrase = Setting("credential.passphrase", flag: "passphrase", kind: .secret)
        .help("Passphrase of the credential; better given as MARTLET_CREDENTIAL_PASSPHRASE")
        .formerly("send.passphrase")

    static let settings = [passphrase]
}
