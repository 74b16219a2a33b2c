/// What the names in braces in paths stand for.
enum PathParameter {
    static let all: [String: (summary: String, schema: Schema)] = [
        "app": ("The app's bundle id.", .string(length: 1...255, pattern: "^[A-Za-z0-9._-]+$")),
        "environment": ("The push service's environment.", .environment),
        "token": ("A device token in hexadecimal.", .string(length: 2...1024, pattern: "^([0-9A-Fa-f]{2})+$")),
        "user": ("A user id, percent-encoded.", .string(length: 1...256)),
        "notification": ("The notification's id.", .uuid),
        "schedule": ("The schedule's id.", .uuid),
        "webhook": ("The webhook's id.", .uuid),
        "key": ("The API key's id.", .uuid),
        "apnsId": ("The apns-id that a push was sent with.", .uuid),
    ]
}
