import WebPages

/// The templates and the texts of this module, which `Resources` holds.
enum DashboardResources {
    static let templates: [PageTemplates.Source] = [
        .init("sign-in", PackageResources.sign_in_mustache),
        .init("link", PackageResources.link_mustache),
        .init("failure", PackageResources.failure_mustache),
        .init("problem", PackageResources.problem_mustache),
        .init("overview", PackageResources.overview_mustache),
        .init("account", PackageResources.account_mustache),
    ]

    static let texts: [(language: String, text: [UInt8])] = [
        ("en", PackageResources.en_json), ("de", PackageResources.de_json),
    ]
}
