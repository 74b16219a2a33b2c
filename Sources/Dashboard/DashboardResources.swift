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
        .init("control", PackageResources.control_mustache),
        .init("device-rows", PackageResources.device_rows_mustache),
        .init("history", PackageResources.history_mustache),
        .init("token-events", PackageResources.token_events_mustache),
        .init("devices", PackageResources.devices_mustache),
        .init("device", PackageResources.device_mustache),
        .init("user", PackageResources.user_mustache),
        .init("delivery", PackageResources.delivery_mustache),
        .init("timeline", PackageResources.timeline_mustache),
        .init("trouble", PackageResources.trouble_mustache),
        .init("sending", PackageResources.sending_mustache),
        .init("figures", PackageResources.figures_mustache),
        .init("app", PackageResources.app_mustache),
        .init("plain-form", PackageResources.plain_form_mustache),
        .init("tokens", PackageResources.tokens_mustache),
        .init("credentials", PackageResources.credentials_mustache),
        .init("webhooks", PackageResources.webhooks_mustache),
        .init("webhook", PackageResources.webhook_mustache),
        .init("secret", PackageResources.secret_mustache),
        .init("keys", PackageResources.keys_mustache),
        .init("people", PackageResources.people_mustache),
        .init("person", PackageResources.person_mustache),
        .init("sessions", PackageResources.sessions_mustache),
        .init("audit", PackageResources.audit_mustache),
        .init("system", PackageResources.system_mustache),
        .init("app-settings", PackageResources.app_settings_mustache),
    ]

    static let texts: [(language: String, text: [UInt8])] = [
        ("en", PackageResources.en_json), ("de", PackageResources.de_json),
        ("en", PackageResources.devices_en_json), ("de", PackageResources.devices_de_json),
        ("en", PackageResources.overview_en_json), ("de", PackageResources.overview_de_json),
        ("en", PackageResources.running_en_json), ("de", PackageResources.running_de_json),
        ("en", PackageResources.people_en_json), ("de", PackageResources.people_de_json),
    ]
}
